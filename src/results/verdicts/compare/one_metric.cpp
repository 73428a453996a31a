#include "results/verdicts/compare/one_metric.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "results/stats/distributions.h"
#include "results/verdicts/compare/compared_values.h"
#include "results/verdicts/compare/estimate.h"
#include "results/verdicts/compare/host_changes.h"
#include "results/verdicts/compare/verdict.h"

namespace bench {
namespace {

/// Share of threshold and change: a smaller clock change explains nothing.
constexpr double kNotableClock = 0.5;
constexpr double kNotableShare = 0.2;
/// With fewer degrees of freedom the run-to-run variation is too uncertain.
constexpr double kFewestDegrees = 4.0;

bool all_equal(const ValuesOfUnits& a, const ValuesOfUnits& b) {
  std::set<double> values;
  for (const auto* side : {&a, &b})
    for (const auto& [unit, points] : *side)
      for (const Point& point : points) values.insert(point.value);
  return values.size() == 1;
}

/// The change as a ratio of work: that of a rate, or the inverse of that of a time.
double work(double ratio, Better better) { return better == Better::lower ? 1.0 / ratio : ratio; }

/// The scale's numbers as ratios of B over A.
struct RatioScale {
  bool log_scale;
  double centre;  // of A
  double of(double shift) const {
    if (log_scale) return std::exp(shift);
    return centre > 0.0 ? 1.0 + shift / centre : kNoValue;
  }
};

/// One metric while it is compared.
class OneMetric {
 public:
  OneMetric(const MetricKey& key, const ValuesOfUnits& a, const ValuesOfUnits& b,
            const CompareOptions& options)
      : a_(a), b_(b), declared_(declaration(key.metric)) {
    found_.key = key;
    found_.params = try_parse_json(key.params).value_or(Json());
    found_.resource = resource_of(key.metric);
    found_.a = side_values(a);
    found_.b = side_values(b);
    found_.threshold = options.threshold.value_or(declared_.threshold);
    if (declared_.exact)
      compare_exactly();
    else
      compare_by_interval(options);
    add_efficiency();
  }

  ComparedMetric found() { return std::move(found_); }

 private:
  void compare_exactly() {
    found_.basis = Basis::exact;
    const bool equal = all_equal(a_, b_);
    found_.verdict = equal ? ChangeVerdict::equivalent : ChangeVerdict::changed;
    if (!equal) found_.why = "declared exact, but its values differ";
    const double ratio = found_.b.value / found_.a.value;
    if (std::isfinite(ratio)) found_.ratio = ratio;
  }

  void compare_by_interval(const CompareOptions& options) {
    const bool logs = on_log_scale(declared_, a_, b_);
    estimate_ =
        estimate(scaled(a_, logs, declared_.noise_floor), scaled(b_, logs, declared_.noise_floor));
    if (estimate_.basis == Basis::samples && logs) widen_by_history(options);
    const RatioScale scale{logs, found_.a.value};
    found_.basis = estimate_.basis;
    found_.pairs = estimate_.pairs;
    found_.deviation = estimate_.deviation;
    found_.ratio = scale.of(estimate_.shift.estimate);
    found_.low = scale.of(estimate_.shift.low);
    found_.high = scale.of(estimate_.shift.high);
    if (!std::isfinite(found_.low)) {
      found_.mean_low = scale.of(estimate_.by_means.low);
      found_.mean_high = scale.of(estimate_.by_means.high);
    }
    found_.p = estimate_.basis == Basis::none ? kNoValue : estimate_.p;
    const Margins limits = margins(found_.threshold, logs, found_.a.value);
    found_.verdict = judge(estimate_.shift, found_.key.better, limits);
    if (logs) explain_by_clock(limits);
    if (found_.basis == Basis::samples) withhold_verdict();
    find_changed_hosts(options, scale, limits);
  }

  KnownNoise run_noise(const CompareOptions& options, const RatioScale& scale) const {
    const double unit = scale.log_scale ? 1.0 : std::abs(scale.centre);
    KnownNoise noise{.floor = declared_.noise_floor * unit};
    const auto known = options.noise.find(found_.key);
    if (!scale.log_scale || known == options.noise.end()) return noise;
    if (!(known->second.degrees >= kFewestDegrees)) return noise;
    noise.deviation = known->second.deviation;
    noise.degrees = known->second.degrees;
    return noise;
  }

  /// Hosts whose own interval lies outside of what counts as equivalent.
  void find_changed_hosts(const CompareOptions& options, const RatioScale& scale,
                          const Margins& limits) {
    const auto shifts =
        unit_shifts(scaled(a_, scale.log_scale, declared_.noise_floor),
                    scaled(b_, scale.log_scale, declared_.noise_floor), run_noise(options, scale));
    found_.hosts_tested = shifts.size();
    for (const UnitShift& one : shifts) {
      found_.host_p = std::fmin(found_.host_p, one.p);
      ChangeVerdict verdict = judge(one.shift, found_.key.better, limits);
      if (verdict == ChangeVerdict::equivalent || verdict == ChangeVerdict::inconclusive) continue;
      if (found_.basis == Basis::samples) verdict = ChangeVerdict::changed;
      found_.hosts.push_back({one.unit, scale.of(one.shift.estimate), scale.of(one.shift.low),
                              scale.of(one.shift.high), one.p, verdict});
    }
    std::ranges::stable_sort(found_.hosts, {}, &HostChange::p);
  }

  /// Runs vary more than the samples within one: adds the run-to-run variation from history.
  void widen_by_history(const CompareOptions& options) {
    const auto known = options.noise.find(found_.key);
    if (known == options.noise.end() || !(known->second.degrees >= kFewestDegrees)) return;
    Shift& shift = estimate_.shift;
    const double of_samples = (shift.high - shift.low) / (2.0 * normal_quantile(0.975));
    const double of_runs =
        known->second.deviation * std::sqrt(2.0 / static_cast<double>(estimate_.pairs));
    const double error = std::hypot(of_samples, of_runs);
    const double half = student_quantile(0.975, known->second.degrees) * error;
    shift.low = shift.estimate - half;
    shift.high = shift.estimate + half;
    estimate_.p = 2.0 * student_cdf(-std::abs(shift.estimate) / error, known->second.degrees);
    estimate_.deviation = known->second.deviation;
    estimate_.basis = Basis::history;
  }

  /// Two single runs that differ do not prove a change.
  void withhold_verdict() {
    if (found_.verdict != ChangeVerdict::improved && found_.verdict != ChangeVerdict::regressed)
      return;
    found_.verdict = ChangeVerdict::changed;
    found_.why = "these two runs differ, but run-to-run variation is unknown";
  }

  void explain_by_clock(const Margins& limits) {
    if (found_.key.better == Better::none || found_.key.unit == Unit::hertz) return;
    if (found_.verdict == ChangeVerdict::equivalent ||
        found_.verdict == ChangeVerdict::inconclusive)
      return;  // there is nothing to explain
    const ScaledUnits a = scaled_per_cycle(a_, found_.key.better),
                      b = scaled_per_cycle(b_, found_.key.better);
    if (a.empty() || b.empty()) return;
    const Estimate per_cycle = estimate(a, b);
    found_.per_cycle = std::exp(per_cycle.shift.estimate);
    found_.per_cycle_low = std::exp(per_cycle.shift.low);
    found_.per_cycle_high = std::exp(per_cycle.shift.high);
    const double change = std::log(work(found_.ratio, found_.key.better));
    const double clock = std::log(found_.b.clock_hz / found_.a.clock_hz);
    const bool explains = clock * change > 0.0 && std::abs(clock) >= kNotableClock * limits.up &&
                          std::abs(clock) >= kNotableShare * std::abs(change);
    if (judge(per_cycle.shift, Better::higher, limits) == ChangeVerdict::equivalent)
      found_.cause = "clock";
    else
      found_.cause = explains ? "clock and more" : "not the clock";
  }

  void add_efficiency() {
    if (!is_rate(found_.key)) return;
    const double more = work(found_.ratio, found_.key.better);
    found_.per_watt = more / (found_.b.power_w / found_.a.power_w);
    if (found_.key.device != "host") found_.per_gpu = more;
  }

  const ValuesOfUnits& a_;
  const ValuesOfUnits& b_;
  MetricDeclaration declared_;
  ComparedMetric found_;
  Estimate estimate_;
};

}  // namespace

ComparedMetric compare_metric(const MetricKey& key, const ValuesOfUnits& a, const ValuesOfUnits& b,
                              const CompareOptions& options) {
  return OneMetric(key, a, b, options).found();
}

}  // namespace bench
