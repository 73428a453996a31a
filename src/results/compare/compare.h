// A against B: for every metric that both measured, how much it differs, how sure that is, and what
// it means. docs/compare.md says how to read it, docs/statistics.md gives the rules.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "results/compare/resource.h"
#include "results/compare/side.h"
#include "results/compare/verdict.h"
#include "results/history/configuration.h"

namespace bench {

/// What the interval is made of.
enum class Basis {
  none,     // too few values for one
  pairs,    // the same hosts (or devices) on both sides: differences within each
  runs,     // run values; those of a host that is on both sides are compared with its own alone
  hosts,    // other hosts on each side: one value each
  history,  // one run a side, and other runs of the same that tell how runs differ
  samples,  // one run a side: how runs differ is not known
  exact     // a metric that must be equal
};
std::string_view to_string(Basis basis);

/// Of one side of one metric; kNoValue where unknown.
struct SideValues {
  std::size_t n = 0;        // run values
  std::size_t units = 0;    // hosts or devices they are from
  double value = kNoValue;  // the median over units of each one's median
  double of_limit = kNoValue, clock_hz = kNoValue, power_w = kNoValue;
};

struct ComparedMetric {
  MetricKey key = {};
  Json params = Json::object();
  Resource resource = Resource::other;
  SideValues a = {}, b = {};
  Basis basis = Basis::none;
  std::size_t pairs = 0;
  double threshold = kNoValue;
  /// B over A with its 95 % interval; on a linear scale 1 + (B - A) / A.
  double ratio = kNoValue, low = kNoValue, high = kNoValue;
  /// Where ranks have no interval: that of the means, which takes the noise to be Gaussian.
  double mean_low = kNoValue, mean_high = kNoValue;
  double deviation = kNoValue;  // of single values; of differences where paired
  double p = kNoValue;          // none for exact metrics
  double q = kNoValue;          // p adjusted for all metrics of the comparison
  ChangeVerdict verdict = ChangeVerdict::inconclusive;
  std::string why = {};  // of inconclusive and changed: what is missing, what would settle it
  std::optional<std::size_t> n_needed = {};  // runs a side (pairs where paired), if inconclusive
  /// The same in work per cycle: what is left when the clock's part is taken out.
  double per_cycle = kNoValue, per_cycle_low = kNoValue, per_cycle_high = kNoValue;
  std::string cause = {};  // "clock", "not the clock", "clock and more"; "" unknown or no change
  double per_watt = kNoValue, per_gpu = kNoValue,
         per_dollar = kNoValue;                  // ratios of work, B over A
  std::vector<FactChange> asked_otherwise = {};  // settings of the job that differ
};

/// A fact that differs, and for how many of the units that tell it.
struct ChangedFact {
  FactChange change;
  std::size_t units = 0;
};

struct Comparison {
  std::string a = {}, b = {};
  std::size_t runs_a = 0, runs_b = 0;
  std::vector<ComparedMetric> metrics = {};           // regressed first, the larger effect first
  std::vector<std::string> only_a = {}, only_b = {};  // metrics with their parameters
  std::vector<ChangedFact> facts = {};           // programs, libraries, drivers, firmware, parts
  std::string hardware_a = {}, hardware_b = {};  // where they differ
  std::optional<double> price_a = {}, price_b = {};  // of the sides
  std::size_t derived = 0;  // metrics left out because another says the same
  std::size_t tested = 0;   // that have a p: the family
  std::vector<std::string> warnings = {};
  std::size_t count(ChangeVerdict verdict) const;
  /// 1 something regressed; 3 nothing could be compared, or nothing had a verdict; else 0.
  ExitCode exit_code() const;
};

/// How runs of one metric differ on one unit, as a standard deviation of logarithms.
struct RunNoise {
  double deviation = kNoValue;
  double degrees = 0.0;
};

struct CompareOptions {
  std::optional<double> threshold = {};  // of all metrics, instead of the declared ones
  double level = 0.05;
  /// Of runs that are on neither side, for metrics with one run a side.
  std::map<MetricKey, RunNoise> noise = {};
  /// Also metrics that say the same as another of their series (collective.algbw beside busbw).
  bool derived = false;
};

Comparison compare(const Side& a, const Side& b, const CompareOptions& options = {});

}  // namespace bench
