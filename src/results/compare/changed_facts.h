// Facts that differ between the two sides: software, settings, parts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results/compare/compare.h"

namespace bench {

class ChangedFacts {
 public:
  /// Both must outlive it.
  ChangedFacts(const Side& a, const Side& b) : a_(a), b_(b) {}

  /// Adds the facts that differ for one metric, and returns the differing settings of its job.
  std::vector<FactChange> add(const ValuesOfUnits& a, const ValuesOfUnits& b);
  /// All except settings, most units first.
  std::vector<ChangedFact> facts() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  const std::vector<FactChange>& between(std::int64_t a, std::int64_t b);

  const Side& a_;
  const Side& b_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<FactChange>> known_;
  std::map<Key, std::set<UnitOfHost>> units_;
};

}  // namespace bench
