// Byte-pair encoding as its definition says, on strings and without tables of pairs, hashes or
// caches: what the timed encoder is compared with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/tokenizer_spec.h"

namespace bench::preprocessing {

class ReferenceBpe {
 public:
  /// The spec is borrowed.
  explicit ReferenceBpe(const tokenizer::TokenizerSpec& spec);

  /// The tokens of one piece; quadratic in its length.
  std::vector<tokenizer::TokenId> encode(std::string_view piece) const;

 private:
  const tokenizer::TokenizerSpec& spec_;
  std::map<std::string_view, tokenizer::TokenId> ids_ = {};
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> ranks_ = {};
};

}  // namespace bench::preprocessing
