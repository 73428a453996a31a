#include "results/run/series.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "core/clean.h"
#include "core/hostlist.h"
#include "core/order_statistics.h"
#include "results/run/retention.h"

namespace bench {
namespace {

constexpr std::size_t kSamplesForP95 = 20;
constexpr std::size_t kSamplesForP99 = 100;

constexpr std::array<std::pair<SampleFlag, const char*>, 6> kFlagNames{
    {{kStolen, "stolen"},
     {kClockMoved, "clock_moved"},
     {kThermal, "thermal"},
     {kPowerCapped, "power_capped"},
     {kCrowded, "crowded"},
     {kCoreShared, "core_shared"}}};

struct Finite {
  std::vector<double> values;
  std::vector<unsigned> flags;
};

Finite finite_samples(const Samples& samples) {
  Finite finite;
  for (std::size_t i = 0; i < samples.values.size(); ++i) {
    if (!std::isfinite(samples.values[i])) continue;
    finite.values.push_back(samples.values[i]);
    finite.flags.push_back(i < samples.flags.size() ? samples.flags[i] : kUnclean);
  }
  return finite;
}

void fill_statistics(const std::vector<double>& values, Series& series) {
  if (values.empty()) return;
  series.min = quantile(values, 0.0);
  series.p5 = quantile(values, 0.05);
  series.median = median(values);
  series.mean = mean(values);
  series.std = standard_deviation(values);
  if (values.size() >= kSamplesForP95) series.p95 = quantile(values, 0.95);
  if (values.size() >= kSamplesForP99) series.p99 = quantile(values, 0.99);
  series.max = quantile(values, 1.0);
  if (const auto interval = median_interval(values)) {
    series.low = interval->low;
    series.high = interval->high;
  }
}

void count_flags(const Samples& samples, Series& series) {
  for (const unsigned flags : samples.flags)
    for (const auto& [flag, name] : kFlagNames)
      if ((flags & flag) != 0) ++series.flags[name];
}

void invalidate_if_not_numbers(std::size_t finite, Series& series) {
  if (finite == series.n || worse(series.outcome, Status::invalid) != Status::invalid) return;
  series.outcome = Status::invalid;
  if (!series.reason.empty()) series.reason += "; ";
  series.reason += fmt::format("{} of {} samples are not numbers", series.n - finite, series.n);
}

using AxesOfCase = std::map<std::string, std::set<std::string>>;

/// Scalar parameters that vary among the jobs of a case.
AxesOfCase axes(const std::vector<JobResult>& jobs) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> values;
  for (const JobResult& result : jobs)
    for (const auto& [name, value] : result.job.params.items())
      if (value.is_primitive()) values[{result.job.case_name, name}].insert(dump(value));
  AxesOfCase found;
  for (const auto& [key, distinct] : values)
    if (distinct.size() > 1) found[key.first].insert(key.second);
  return found;
}

/// Two devices of a host, or two rails, are never one series.
void add_axes(const PlannedJob& job, const AxesOfCase& axes, Series& series) {
  for (const auto& [name, value] : job.part.items()) series.params[name] = value;
  const auto found = axes.find(job.case_name);
  if (found == axes.end()) return;
  for (const std::string& name : found->second)
    if (job.params.contains(name) && !series.params.contains(name))
      series.params[name] = job.params[name];
}

/// Thinned samples are represented by the summary that follows them.
void take_summary(const RunRecords& run, std::size_t record, Series& series) {
  if (record + 1 >= run.records.size()) return;
  const Record& next = run.records[record + 1];
  const auto* facts = std::get_if<Facts>(&next.body);
  if (facts != nullptr && facts->topic == kThinnedTopic && next.job == series.job)
    restore_summary(facts->facts, series);
}

auto identity(const Series& s) {
  return std::tuple(s.metric, dump(s.params), s.over, s.host, s.rank);
}

/// If a job is invalid as a whole (for example its ranks disagree), so are its series; if one of
/// its series is the reason, the others stay valid.
void propagate_invalidity(const JobResult& job, std::vector<Series>& series) {
  if (job.outcome != Status::invalid) return;
  for (const Series& one : series)
    if (one.outcome == Status::invalid) return;
  for (Series& one : series) {
    if (one.outcome != Status::ok) continue;
    one.outcome = Status::invalid;
    one.reason = "invalid job: " + job.reason;
  }
}

}  // namespace

double of_limit(double value, Better better, const std::optional<Limit>& limit) {
  if (!limit || better == Better::none) return kNoValue;
  const double ratio = better == Better::higher ? value / limit->value : limit->value / value;
  return std::isfinite(ratio) ? ratio : kNoValue;
}

double at_clock_held(double of_limit, const std::optional<Limit>& limit,
                     const std::optional<double>& clock_hz) {
  if (!limit || !limit->clock_hz || !clock_hz) return kNoValue;
  const double share = of_limit * *limit->clock_hz / *clock_hz;
  return std::isfinite(share) ? share : kNoValue;
}

Series summarise(const Samples& samples, const PlannedJob& job) {
  Series series;
  series.job = job.id;
  series.case_name = job.case_name;
  series.probe = job.probe;
  series.metric = job.probe.empty() ? samples.metric : job.probe + "." + samples.metric;
  series.params = samples.params;
  series.over = samples.over;
  series.device = job.device;
  series.ranks = job.ranks;
  series.repeat = job.repeat;
  series.unit = samples.unit;
  series.better = samples.better;
  series.limit = samples.limit;
  series.outcome = samples.outcome;
  series.reason = samples.reason;
  series.stop = samples.stop;
  series.repeats = samples.repeats;
  series.quality = samples.quality;
  series.check = samples.check;

  const Finite finite = finite_samples(samples);
  series.n = samples.values.size();
  series.clean = count_clean(finite.flags);
  fill_statistics(representative(finite.values, finite.flags), series);
  series.unfiltered_median = median(finite.values);
  series.of_limit = of_limit(series.median, series.better, series.limit);
  series.of_limit_at_clock = at_clock_held(series.of_limit, series.limit, series.quality.clock_hz);
  series.chosen = samples.chosen;
  count_flags(samples, series);
  invalidate_if_not_numbers(finite.values.size(), series);
  return series;
}

SeriesOfJobs::SeriesOfJobs(const RunRecords& run, const std::vector<JobResult>& jobs)
    : run_(run), jobs_(jobs), axes_(axes(jobs)), records_(jobs.size()) {
  std::map<std::string_view, std::size_t> position;
  for (std::size_t i = 0; i < jobs.size(); ++i) position[jobs[i].job.id] = i;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    if (!std::holds_alternative<Samples>(run.records[i].body)) continue;
    const auto at = position.find(run.records[i].job);
    if (at != position.end()) records_[at->second].push_back(i);
  }
}

std::size_t SeriesOfJobs::most() const {
  std::size_t count = 0;
  for (const auto& of_job : records_) count += of_job.size();
  return count;
}

std::vector<Series> SeriesOfJobs::of(std::size_t index) const {
  const PlannedJob& job = jobs_[index].job;
  std::vector<Series> found;
  std::map<decltype(identity(Series{})), std::size_t> known;
  for (const std::size_t i : records_[index]) {
    const Record& record = run_.records[i];
    Series series = summarise(std::get<Samples>(record.body), job);
    take_summary(run_, i, series);
    add_axes(job, axes_, series);
    // With several hosts rank 0 reports, but the result belongs to all of them.
    series.host = job.hosts.size() > 1 ? compact_hostlist(job.hosts) : record.host;
    series.rank = record.rank;
    series.time_ns = record.time_ns;
    series.record = i;
    const auto [slot, is_new] = known.try_emplace(identity(series), found.size());
    if (is_new)
      found.push_back(std::move(series));
    else
      found[slot->second] = std::move(series);
  }
  propagate_invalidity(jobs_[index], found);
  return found;
}

Interval interval_of(const Series& series) {
  if (std::isfinite(series.low) && std::isfinite(series.high)) return {series.low, series.high};
  return {series.min, series.max};
}

double clean_share(const Series& series) {
  return series.n == 0 ? kNoValue
                       : static_cast<double>(series.clean) / static_cast<double>(series.n);
}

double withheld_share(const Quality& quality) {
  const double throttled_s = quality.throttled_s.value_or(0.0);
  const double wall_s = quality.wall_s.value_or(0.0);
  return throttled_s > kThrottledS && wall_s > 0.0 ? throttled_s / wall_s : 0.0;
}

double filter_effect(const Series& series) {
  const double effect = series.unfiltered_median / series.median - 1.0;
  return std::isfinite(effect) ? effect : kNoValue;
}

}  // namespace bench
