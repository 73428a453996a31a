#include "results/compare/changed_facts.h"

#include <algorithm>

namespace bench {
namespace {

/// Facts that identify a part are irrelevant when hosts differ.
bool identifies_part(const std::string& fact) {
  return fact.ends_with("serial") || fact.ends_with(".uuid");
}

bool is_setting(const std::string& fact) { return fact.starts_with("setting."); }

}  // namespace

const std::vector<FactChange>& ChangedFacts::between(std::int64_t a, std::int64_t b) {
  const auto [slot, is_new] = known_.try_emplace({a, b});
  if (!is_new) return slot->second;
  const auto before = a_.configurations.find(a), after = b_.configurations.find(b);
  if (before != a_.configurations.end() && after != b_.configurations.end())
    slot->second = changes(before->second, after->second);
  return slot->second;
}

std::vector<FactChange> ChangedFacts::add(const ValuesOfUnits& a, const ValuesOfUnits& b) {
  std::map<std::string, FactChange> settings;
  const auto take = [&](const UnitOfHost& unit, const Point& before, const Point& after,
                        bool same_unit) {
    for (const FactChange& change : between(before.configuration, after.configuration)) {
      if (is_setting(change.fact))
        settings[change.fact] = change;
      else if (same_unit || !identifies_part(change.fact))
        units_[{change.fact, change.before, change.after}].insert(unit);
    }
  };
  bool common = false;
  for (const auto& [unit, points] : a)
    if (const auto other = b.find(unit); other != b.end()) {
      common = true;
      take(unit, points.back(), other->second.back(), true);
    }
  if (!common && !a.empty() && !b.empty())
    take(b.begin()->first, a.begin()->second.back(), b.begin()->second.back(), false);
  std::vector<FactChange> found;
  for (auto& [name, change] : settings) found.push_back(std::move(change));
  return found;
}

std::vector<ChangedFact> ChangedFacts::facts() const {
  std::vector<ChangedFact> found;
  for (const auto& [key, units] : units_) {
    const auto& [fact, before, after] = key;
    found.push_back({{fact, before, after}, units.size()});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &ChangedFact::units);
  return found;
}

}  // namespace bench
