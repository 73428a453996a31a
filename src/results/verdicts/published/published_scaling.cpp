#include "results/verdicts/published/published_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/text.h"
#include "results/stats/peers.h"

namespace bench::mlperf {
namespace {

constexpr double kMinutesOfHour = 60.0;

using SeriesName = std::tuple<std::string, std::string, std::string, std::string>;
using ByAccelerators = std::map<double, std::vector<std::size_t>>;

/// By submitter, benchmark, division and accelerator.
std::map<SeriesName, ByAccelerators> grouped(PublishedScaling& scaling) {
  std::map<SeriesName, ByAccelerators> groups;
  for (std::size_t i = 0; i < scaling.entries.size(); ++i) {
    const PublishedEntry& entry = scaling.entries[i];
    const bool timed = entry.olympic_minutes > 0.0;
    const std::string why = timed ? why_no_accelerators(entry) : printable(entry.no_score);
    if (!timed || !why.empty()) {
      scaling.warnings.push_back("skipped: " + entry_label(entry) + ": " + why);
      continue;
    }
    const SeriesName name{entry.benchmark, entry.submitter, hardware_name(entry), entry.division};
    groups[name][accelerators_of(entry)].push_back(i);
  }
  return groups;
}

/// Uses the fastest of several systems with the same accelerator count.
PublishedPoint point_of(const std::vector<PublishedEntry>& entries, double accelerators,
                        std::vector<std::size_t> members) {
  std::ranges::stable_sort(members, {}, [&](std::size_t i) { return entries[i].olympic_minutes; });
  PublishedPoint point;
  point.entry = members.front();
  point.slower.assign(members.begin() + 1, members.end());
  point.accelerators = accelerators;
  point.accelerator_hours = entries[point.entry].olympic_minutes * accelerators / kMinutesOfHour;
  return point;
}

/// First-order relative errors of two olympic means, as for local trainings.
Ratio efficiency_between(const PublishedEntry& base, const PublishedEntry& here, double times) {
  Ratio found;
  found.value = base.olympic_minutes / (times * here.olympic_minutes);
  const OlympicMean a = olympic_seconds(base), b = olympic_seconds(here);
  if (&base == &here || !(a.kept >= 2) || !(b.kept >= 2) || !std::isfinite(a.standard_error) ||
      !std::isfinite(b.standard_error))
    return found;
  const double error = std::hypot(a.standard_error / a.mean, b.standard_error / b.mean);
  const double half = student_95(std::min(a.kept, b.kept) - 1) * error;
  found.low = found.value * std::exp(-half);
  found.high = found.value * std::exp(half);
  return found;
}

void set_efficiencies(const PublishedEntry& base, double base_accelerators,
                      const PublishedEntry& here, PublishedPoint& point) {
  const double times = point.accelerators / base_accelerators;
  point.efficiency = efficiency_between(base, here, times);
  if (base.samples_unit != here.samples_unit) return;
  point.convergence_penalty = here.samples / base.samples;
  point.throughput_efficiency = samples_per_second(here) / samples_per_second(base) / times;
}

ScalingCurve unfinished_curve(const PublishedSeries& series,
                              const std::vector<PublishedEntry>& entries) {
  ScalingCurve curve;
  curve.metric = "mlperf.time_to_train";
  curve.params = {{"benchmark", series.benchmark}};
  curve.device = "host";  // omitted in titles
  curve.over = "accelerators";
  curve.kind = "strong";
  curve.law = ScalingLaw::strong_time;
  curve.unit = Unit::second;
  curve.better = Better::lower;
  for (const PublishedPoint& from : series.points) {
    ScalePoint point{from.accelerators};
    point.values = counted_seconds(entries[from.entry]);
    curve.points.push_back(std::move(point));
  }
  return curve;
}

/// Laws are fitted to the runs; values and efficiencies come from the olympic means.
ScalingCurve curve_of_series(const PublishedSeries& series,
                             const std::vector<PublishedEntry>& entries,
                             const std::vector<double>& predict_at) {
  ScalingCurve curve = unfinished_curve(series, entries);
  ScalingSettings settings;
  settings.over = curve.over;
  settings.predict_at = predict_at;
  finish(curve, settings);
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const PublishedPoint& from = series.points[i];
    ScalePoint& point = curve.points[i];
    const double times = from.accelerators / curve.base;
    const OlympicMean seconds = olympic_seconds(entries[from.entry]);
    point.value = {seconds.mean, seconds.low, seconds.high};
    point.efficiency = from.efficiency;
    point.speed_up = from.efficiency.value * times;
    point.karp_flatt = karp_flatt(point.speed_up, times);
    point.samples_penalty = from.convergence_penalty;
    point.time_efficiency = from.efficiency.value;
  }
  curve.interval =
      "olympic means of the raw run times; 95 % intervals from the trimmed means "
      "(Yuen), none for three runs";
  return curve;
}

PublishedSeries series_of(const SeriesName& name, const ByAccelerators& members,
                          const std::vector<PublishedEntry>& entries,
                          const std::vector<double>& predict_at) {
  PublishedSeries series;
  std::tie(series.benchmark, series.submitter, series.accelerator, series.division) = name;
  for (const auto& [accelerators, systems] : members)
    series.points.push_back(point_of(entries, accelerators, systems));
  const PublishedPoint base = series.points.front();
  for (PublishedPoint& point : series.points)
    set_efficiencies(entries[base.entry], base.accelerators, entries[point.entry], point);
  series.curve = curve_of_series(series, entries, predict_at);
  return series;
}

std::string words_of(const SeriesName& name) {
  const auto& [benchmark, submitter, accelerator, division] = name;
  return fmt::format("{}, {}, {} ({})", printable(benchmark), printable(submitter),
                     printable(accelerator), printable(division));
}

/// Leaves out what is smaller than the base; false if nothing has its size.
bool begin_at(double base, const SeriesName& name, ByAccelerators& members,
              std::vector<std::string>& warnings) {
  const auto first = members.find(base);
  if (first == members.end()) {
    warnings.push_back(fmt::format("{}: no result with {:g} accelerators, so it is left out",
                                   words_of(name), base));
    return false;
  }
  for (auto smaller = members.begin(); smaller != first; ++smaller)
    warnings.push_back(
        fmt::format("{}: {:g} accelerators are fewer than the base, {:g}, and left out",
                    words_of(name), smaller->first, base));
  members.erase(members.begin(), first);
  return true;
}

}  // namespace

PublishedScaling published_scaling(std::vector<PublishedEntry> entries,
                                   const PublishedScalingSettings& settings) {
  PublishedScaling scaling;
  scaling.entries = std::move(entries);
  for (auto&& [name, members] : grouped(scaling)) {
    if (settings.base && !begin_at(*settings.base, name, members, scaling.warnings)) continue;
    if (members.size() < 2)
      ++scaling.single;
    else
      scaling.series.push_back(series_of(name, members, scaling.entries, settings.predict_at));
  }
  if (!scaling.series.empty()) scaling.exit_code = ExitCode::ok;
  return scaling;
}

}  // namespace bench::mlperf
