// The values of one metric on both sides, on the scale on which they are compared.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results/verdicts/compare/compare.h"
#include "results/verdicts/compare/estimate.h"

namespace bench {

// Facts that differ between the two sides: software, settings, parts.

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

/// Medians over units of each unit's median.
SideValues side_values(const ValuesOfUnits& units);

/// Whether logarithms are taken: the metric declares it, and no value is zero or below.
bool on_log_scale(const MetricDeclaration& declared, const ValuesOfUnits& a,
                  const ValuesOfUnits& b);

/// `noise_floor`: the least standard error of a value, as a share of it.
ScaledUnits scaled(const ValuesOfUnits& units, bool log_scale, double noise_floor);

/// Logarithms of work per clock cycle; nothing if a clock is unknown. `better` distinguishes rates
/// from times.
ScaledUnits scaled_per_cycle(const ValuesOfUnits& units, Better better);

}  // namespace bench
