#include "results/verdicts/scaling/scaling_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "results/run/dimensions.h"
#include "results/verdicts/scaling/small_system.h"

namespace bench {
namespace {

constexpr std::size_t kFewestTimes = 5;

using Terms = std::vector<std::size_t>;  // 0: constant, 1: ln N, 2: N

double term(std::size_t which, double n) { return which == 0 ? 1.0 : which == 1 ? std::log(n) : n; }

std::optional<TimeFit> with_terms(std::span<const TimeAt> values, const Terms& terms) {
  std::vector<std::vector<double>> rows;
  for (const TimeAt& at : values) {
    rows.emplace_back();
    for (const std::size_t which : terms) rows.back().push_back(term(which, at.n) / at.seconds);
  }
  const auto inverted = inverse(normal_matrix(rows, terms.size()));
  if (!inverted) return {};
  const std::vector<double> ones(values.size(), 1.0);
  const auto found = product(*inverted, normal_right(rows, ones, terms.size()));
  if (std::ranges::any_of(found, [](double coefficient) { return coefficient < 0.0; })) return {};
  std::array<double, 3> all{};
  for (std::size_t i = 0; i < terms.size(); ++i) all[terms[i]] = found[i];
  TimeFit fit{all[0], all[1], all[2]};
  double square = 0.0;
  for (const TimeAt& at : values) square += std::pow(1.0 - fit.seconds(at.n) / at.seconds, 2);
  fit.values = values.size();
  fit.deviation = std::sqrt(square / static_cast<double>(values.size() - terms.size()));
  fit.aicc = aicc_of(square, values.size(), terms.size() + 1);
  return fit;
}

}  // namespace

double TimeFit::seconds(double n) const {
  return constant + per_log * std::log(n) + per_worker * n;
}

std::optional<TimeFit> time_fit(std::span<const TimeAt> values) {
  std::set<double> different;
  for (const TimeAt& at : values) {
    if (!(at.n >= 1.0) || !(at.seconds > 0.0) || !std::isfinite(at.seconds)) return {};
    different.insert(at.n);
  }
  if (different.size() < kFewestTimes) return {};
  std::optional<TimeFit> best;
  for (const Terms& terms : {Terms{0}, Terms{0, 1}, Terms{0, 2}, Terms{0, 1, 2}}) {
    const auto fit = with_terms(values, terms);
    if (fit && (!best || fit->aicc < best->aicc)) best = fit;
  }
  return best;
}

namespace {

constexpr double kTwice = 2.0;
constexpr std::array<std::string_view, 4> kLawNames = {"total", "own", "strong", "weak"};

bool is_time(ScalingLaw law) {
  return law == ScalingLaw::strong_time || law == ScalingLaw::weak_time;
}

LogMean rates_of(const ScalingCurve& curve, const ScalePoint& point) {
  std::vector<double> rates;
  for (const double value : point.values) rates.push_back(rate_of(curve.law, point.n, value));
  return log_mean(rates);
}

/// Ratio of two single runs, using the intervals of their samples.
Ratio of_samples(const ScalingCurve& curve, const ScalePoint& point, const ScalePoint& base,
                 double value) {
  const bool turned = is_time(curve.law);
  const double scale = rate_of(curve.law, point.n, 1.0) / rate_of(curve.law, base.n, 1.0);
  const double low = turned ? base.value.low / point.value.high : point.value.low / base.value.high;
  const double high =
      turned ? base.value.high / point.value.low : point.value.high / base.value.low;
  return {value, low * scale, high * scale};
}

void set_point(const ScalingCurve& curve, const ScalePoint& base, ScalePoint& point) {
  const double times = point.n / base.n;
  Ratio speed_up = ratio_of(rates_of(curve, point), rates_of(curve, base));
  point.speed_up = speed_up.value;
  if (point.values.size() == 1 && base.values.size() == 1)
    speed_up = of_samples(curve, point, base, speed_up.value);
  point.efficiency = speed_up / times;
  if (&point == &base) point.efficiency.low = point.efficiency.high = kNoValue;
  point.karp_flatt = karp_flatt(point.speed_up, times);
}

std::vector<RateAt> all_rates(const ScalingCurve& curve) {
  std::vector<RateAt> rates;
  for (const ScalePoint& point : curve.points)
    for (const double value : point.values)
      rates.push_back({point.n, rate_of(curve.law, point.n, value)});
  return rates;
}

void choose_fit(ScalingCurve& curve) {
  const auto rates = all_rates(curve);
  const auto amdahl = amdahl_fit(rates), usl = usl_fit(rates);
  if (!amdahl) {
    curve.fit_words = fmt::format("too few points for a scaling law: {} values of {}, {} needed",
                                  curve.points.size(), curve.over, kFewestForAmdahl);
    return;
  }
  curve.fits.push_back(*amdahl);
  if (!usl) {
    curve.fit_words = fmt::format("USL needs {} values of {}", kFewestForUsl, curve.over);
    return;
  }
  if (!std::isfinite(usl->aicc)) {
    curve.fit_words = "comparing USL with Amdahl's law needs six values";
    return;
  }
  curve.fits.push_back(*usl);
  if (usl->aicc < amdahl->aicc) std::swap(curve.fits[0], curve.fits[1]);
  curve.fit_words = fmt::format("AICc {:.1f} vs. {:.1f} for {}", curve.fits[0].aicc,
                                curve.fits[1].aicc, curve.fits[1].model);
}

void add_prediction(ScalingCurve& curve, double n) {
  auto found = predict(curve.fits.front(), n);
  if (!found) return;
  for (double* value : {&found->rate, &found->low, &found->high})
    *value = value_of(curve.law, n, *value);
  if (is_time(curve.law)) std::swap(found->low, found->high);
  curve.predictions.push_back(*found);
}

void refuse_extrapolation(const ScalingCurve& curve, double n) {
  const double largest = curve.points.back().n;
  if (n >= 1.0 && n <= kTwice * largest) return;
  throw Error(ErrorKind::input,
              fmt::format("cannot predict {:g} {} from measurements up to {:g} ({})", n, curve.over,
                          largest, curve.metric),
              fmt::format("predictions reach twice the largest measured number: measure {:g} or "
                          "more, or choose curves with --metric",
                          std::ceil(n / kTwice)));
}

void set_time_words(ScalingCurve& curve) {
  if (curve.law != ScalingLaw::weak_time) return;
  std::vector<TimeAt> times;
  std::vector<double> n, speed_ups;
  for (const ScalePoint& point : curve.points) {
    for (const double value : point.values) times.push_back({point.n, value});
    n.push_back(point.n / curve.base);
    speed_ups.push_back(point.speed_up);
  }
  curve.times = time_fit(times);
  curve.serial = gustafson_serial(n, speed_ups);
}

std::string interval_words(const ScalingCurve& curve) {
  const auto single = [](const ScalePoint& point) { return point.values.size() == 1; };
  if (std::ranges::none_of(curve.points, single))
    return "geometric means over runs with 95 % confidence intervals (Student, Welch)";
  if (std::ranges::all_of(curve.points, single))
    return "one run per point: intervals cover samples within a run, not run-to-run variation; "
           "repeat the runs";
  return "points with a single run have no confidence interval; repeat the runs";
}

}  // namespace

std::string to_string(ScalingLaw law) {
  return std::string(kLawNames[static_cast<std::size_t>(law)]);
}

ScalingLaw scaling_law_from(const std::string& name) {
  const auto found = std::ranges::find(kLawNames, name);
  if (found != kLawNames.end()) return static_cast<ScalingLaw>(found - kLawNames.begin());
  const std::vector<std::string> known(kLawNames.begin(), kLawNames.end());
  throw Error(ErrorKind::usage, "unknown scaling law '" + name + "'." + did_you_mean(name, known),
              "use one of: " + join(known, ", "));
}

double rate_of(ScalingLaw law, double n, double value) {
  if (law == ScalingLaw::total_rate) return value;
  if (law == ScalingLaw::own_rate) return n * value;
  return (law == ScalingLaw::weak_time ? n : 1.0) / value;
}

double value_of(ScalingLaw law, double n, double rate) {
  if (law == ScalingLaw::total_rate) return rate;
  if (law == ScalingLaw::own_rate) return rate / n;
  return (law == ScalingLaw::weak_time ? n : 1.0) / rate;
}

void finish(ScalingCurve& curve, const ScalingSettings& settings) {
  std::ranges::sort(curve.points, {}, &ScalePoint::n);
  for (ScalePoint& point : curve.points)
    if (point.values.size() > 1) point.value = geometric_mean(log_mean(point.values));
  const ScalePoint& base = curve.points.front();
  curve.base = base.n;
  for (ScalePoint& point : curve.points) set_point(curve, base, point);
  curve.interval = interval_words(curve);
  set_time_words(curve);
  choose_fit(curve);
  for (const double n : settings.predict_at) refuse_extrapolation(curve, n);
  if (curve.fits.empty()) return;
  for (const double n : settings.predict_at) add_prediction(curve, n);
  if (settings.predict_at.empty()) add_prediction(curve, kTwice * curve.points.back().n);
}

std::string title_of(const ScalingCurve& curve) {
  std::string title = with_dimensions(curve.metric, curve.params);
  if (curve.device != "host" && !curve.device.empty()) title += " on " + curve.device;
  if (!curve.host.empty()) title += " of " + curve.host;
  if (!curve.case_name.empty()) title += " in " + curve.case_name;
  return curve.kind.empty() ? title : title + ", " + curve.kind;
}

}  // namespace bench
