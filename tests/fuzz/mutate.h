// Damages inputs for the fuzz targets: bytes and JSON trees. The same seed gives the same input.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench::fuzz {

class Mutator {
 public:
  /// The corpus is borrowed; it must not be empty.
  Mutator(const std::vector<std::string>& corpus, std::uint64_t seed);

  /// A damaged copy of one of the corpus.
  std::string next();

 private:
  std::size_t below(std::size_t bound);
  template <class List>
  const auto& any_of(const List& list) {
    return list[below(list.size())];
  }
  void damage_bytes(std::string& text);
  void damage_tree(Json& json);
  Json odd_value();
  std::string tree_text(Json json);

  const std::vector<std::string>& corpus_;
  std::vector<Json> trees_;  // those of the corpus that are JSON
  std::mt19937_64 random_;
};

}  // namespace bench::fuzz
