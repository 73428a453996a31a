// Compares A with B: for every common metric its change, the uncertainty and a verdict. Reading it:
// docs/compare.md; rules: docs/statistics.md.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json_fields.h"
#include "results/run/metric_catalogue.h"
#include "results/store/configuration.h"
#include "results/store/history.h"
#include "results/verdicts/compare/side.h"
#include "results/verdicts/compare/verdict.h"

namespace bench {

/// Basis of the interval.
enum class Basis {
  none,     // too few values for one
  pairs,    // the same hosts (or devices) on both sides: differences within each
  runs,     // run values; those of a host that is on both sides are compared with its own alone
  hosts,    // other hosts on each side: one value each
  history,  // one run per side, with run-to-run variation from other runs
  samples,  // one run per side: run-to-run variation unknown
  exact     // a metric that must be equal
};
std::string_view to_string(Basis basis);

/// One side of one metric; kNoValue if unknown.
struct SideValues {
  std::size_t n = 0;        // run values
  std::size_t units = 0;    // hosts or devices they are from
  double value = kNoValue;  // the median over units of each one's median
  double of_limit = kNoValue, clock_hz = kNoValue, power_w = kNoValue;
};

/// A host (or device) that changed by itself, unlike the typical one.
struct HostChange {
  UnitOfHost unit = {};
  double ratio = kNoValue, low = kNoValue, high = kNoValue;  // as those of the metric
  double p = kNoValue;                                       // adjusted for the number of hosts
  ChangeVerdict verdict = ChangeVerdict::inconclusive;
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
  double deviation = kNoValue;  // of single values, or of differences if paired
  double p = kNoValue;          // none for exact metrics
  double q = kNoValue;          // p adjusted for all metrics of the comparison
  ChangeVerdict verdict = ChangeVerdict::inconclusive;
  std::vector<HostChange> hosts = {};        // that changed by themselves, the surest first
  std::size_t hosts_tested = 0;              // 0: too few for a test of each
  double host_p = kNoValue;                  // the least p of any host
  double host_q = kNoValue;                  // adjusted for all metrics
  std::string why = {};                      // for inconclusive and changed: what is missing
  std::optional<std::size_t> n_needed = {};  // runs per side (pairs if paired), if inconclusive
  /// Work per cycle: the change without the clock's contribution.
  double per_cycle = kNoValue, per_cycle_low = kNoValue, per_cycle_high = kNoValue;
  std::string cause = {};  // "clock", "not the clock", "clock and more"; "" unknown or no change
  double per_watt = kNoValue, per_gpu = kNoValue,
         per_dollar = kNoValue;                   // ratios of work, B over A
  std::vector<FactChange> changed_settings = {};  // settings of the job that differ
};

/// A differing fact, and how many of the units that report it.
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
  std::string hardware_a = {}, hardware_b = {};  // empty if equal
  std::optional<double> price_a = {}, price_b = {};  // of the sides
  std::size_t derived = 0;                           // omitted derived metrics
  std::size_t tested = 0;                            // that have a p: the family
  std::vector<std::string> warnings = {};
  std::size_t count(ChangeVerdict verdict) const;
  /// Changes of single hosts with this verdict.
  std::size_t count_hosts(ChangeVerdict verdict) const;
  /// 1: something regressed, be it on one host; 3: nothing compared or no verdict; else 0.
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
  /// Run-to-run noise from runs on neither side, for metrics with one run per side.
  std::map<MetricKey, RunNoise> noise = {};
  /// Include metrics derived from another of their series (collective.algbw in addition to busbw).
  bool derived = false;
};

Comparison compare(const Side& a, const Side& b, const CompareOptions& options = {});

// Run-to-run variation without known changes, from runs on neither side of a comparison.

/// Whether some metric has one run on a side for each unit: only then history is worth reading.
bool needs_run_noise(const Side& a, const Side& b);

/// The standard deviation of logarithms inside each unit, pooled over units, of the newest runs
/// that began before the last of either side and are on none of them. A change among them makes the
/// noise larger, and verdicts rarer.
std::map<MetricKey, RunNoise> run_noise(const Histories& histories, const Side& a, const Side& b);

// How two sides differ in what limits metrics: compute, memory, links.

/// B over A in work: above one is more. kNoValue for a metric without a direction.
double work_ratio(const ComparedMetric& metric);

/// Whether the metric is work per time, which a price or a power can be related to: a rate, or the
/// time of a whole workload. A latency, a share, a clock or a count is not.
bool is_rate(const MetricKey& key);

/// B over A, in work, for all metrics of one class: geometric mean.
struct ResourceRatio {
  Resource resource = Resource::other;
  std::size_t metrics = 0;
  double ratio = kNoValue;
  std::string device = {};
  Unit unit = Unit::flop_per_second;
  Better better = Better::higher;
};

/// Of metrics with a direction and a ratio, one for each resource, kind of device, unit and
/// direction, in this order. Derived metrics, which repeat another one, do not count.
std::vector<ResourceRatio> resource_ratios(const Comparison& comparison);

/// The resource whose rates gained most nearly as much as a workload: "memory". "" if another
/// resource is less than a tenth farther, or none is known.
std::string follows(double ratio, const std::vector<ResourceRatio>& resources);

}  // namespace bench
