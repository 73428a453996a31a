#include "probes/state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "core/clean.h"
#include "core/error.h"
#include "core/order_statistics.h"
#include "core/record.h"
#include "core/text.h"
#include "core/time.h"
#include "devices/facts/host_pressure.h"
#include "devices/group.h"
#include "probes/sampler.h"

namespace bench {
namespace {

// Values of rank times over all ranks: more are thinned to every k-th sample, but to no fewer than
// kFewestRankTimes samples.
constexpr std::size_t kMostRankTimes = 20'000;
constexpr std::size_t kFewestRankTimes = 20;

/// One of so many samples is kept.
std::size_t stride(std::size_t samples, std::size_t ranks) {
  const std::size_t most = std::max(kFewestRankTimes, kMostRankTimes / ranks);
  return (samples + most - 1) / most;
}

/// The chunk "rank_times PARAMS" with the columns "sample" (its place in the series), "rank0",
/// "rank1", ...: seconds of whole samples, after the barrier, by each rank's own clock. Series keep
/// only the slowest rank's time; these show which rank is slow
/// (results/verdicts/localisation/straggler.h). At rank 0; nothing elsewhere. Every rank calls it
/// with the same number of samples.
std::optional<Chunk> rank_times(Group& group, const Json& params,
                                const std::vector<double>& own_s) {
  if (own_s.empty()) return {};
  const std::size_t step = stride(own_s.size(), static_cast<std::size_t>(group.size()));
  Json own = Json::array(), places = Json::array();
  for (std::size_t i = 0; i < own_s.size(); i += step) {
    own.push_back(own_s[i]);
    places.push_back(i);
  }
  const std::vector<Json> all = gather_json(group, own);
  if (group.rank() != 0) return {};
  Chunk chunk{"rank_times " + dump(params), {{"sample", std::move(places)}}};
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    chunk.columns["rank" + std::to_string(rank)] = all[rank];
  return chunk;
}

constexpr double kAboveLimit = 1.02;  // allowed excess over a proven bound: clocks are measured too

/// True when every parameter of the limit is one of the series with the same value.
bool applies(const KnownLimit& known, const Json& params) {
  for (const auto& [key, value] : known.params.items())
    if (!params.contains(key) || params.at(key) != value) return false;
  return true;
}

/// One verdict for all ranks: the largest error; a failure of any rank is a failure.
Check agree(Group& group, Check check) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double error = largest(group, std::isnan(check.error) ? infinity : check.error);
  const double failed = largest(group, check.passed() ? 0.0 : 1.0);
  check.error = failed > 0.0 && error <= check.tolerance ? infinity : error;
  return check;
}

/// Core cycles per call if each sample has its own clock reading.
std::optional<double> median_cycles(const TimedSeries& series) {
  if (series.clocks.empty() || series.clocks.size() != series.seconds.size()) return {};
  std::vector<double> cycles = series.seconds;
  for (std::size_t i = 0; i < cycles.size(); ++i) cycles[i] *= series.clocks[i];
  return median(representative(cycles, series.flags));
}

std::string why_not_clean(const Samples& samples) {
  const Quality& quality = samples.quality;
  const auto all = [&](SampleFlag flag) {
    return std::ranges::all_of(samples.flags, [&](unsigned flags) { return (flags & flag) != 0; });
  };
  if (all(kThermal)) return "no clean sample: thermal or hardware throttling throughout";
  const double others = quality.others_share.value_or(0.0);
  if (others > kCrowdedShare)
    return "crowded: other processes used " + format(others, Unit::ratio) +
           " of this machine's CPU time";
  if (all(kCoreShared))
    return "no clean sample: a measuring thread had only half a core; the hypervisor may run two "
           "virtual CPUs on one core";
  return "no clean sample: the median is of disturbed samples";
}

/// Of the median of a series, for values derived from it.
Conditions of_median(const std::vector<unsigned>& flags, const Quality& quality) {
  unsigned all = kClean;
  for (const unsigned one : flags) all |= one;
  return {
      {count_clean(flags) > 0 ? all & ~kUnclean : all}, {quality.wall_s.value_or(0.0)}, quality};
}

/// Interference makes clock readings too low, and the bounds derived from them. So a bound is only
/// proven at the highest clock, except for a few outliers.
double highest_clock(const std::vector<double>& clocks) {
  const double usual = median(clocks);
  return usual > 0.0 ? std::max(1.0, quantile(clocks, 0.95) / usual) : 1.0;
}

Limit at_clock(const CycleLimit& limit, Hertz clock) {
  return {limit.per_cycle * clock.value, limit.kind,
          limit.source + " x " + format(clock.value, Unit::hertz)};
}

}  // namespace

void write_record(RecordSink& sink, const Group& group, const std::string& job,
                  decltype(Record::body) body) {
  if (group.rank() != 0) return;
  Record record;
  record.job = job;
  record.rank = group.rank();
  record.time_ns = now_ns();
  record.body = std::move(body);
  sink.write(std::move(record));
}

std::string above_limit(double value, Better better, const Limit& limit, double highest_clock) {
  if (limit.kind != LimitKind::proven || !(limit.value > 0.0)) return "";
  const double share = better == Better::lower ? limit.value / value : value / limit.value;
  if (share <= kAboveLimit * highest_clock) return "";
  return "the value is " + format(share, Unit::ratio) + " of a proven limit (" + limit.source +
         "), so the measurement must be wrong";
}

State::State(const Job& job, const Probe& probe, Device& device, Group& group, RecordSink& sink)
    : job_(job),
      probe_(probe),
      device_(device),
      group_(group),
      sink_(sink),
      crowding_(device, group),
      started_(device.now()) {}

const Json& State::param(const std::string& name) const {
  const auto found = job_.params->find(name);
  if (found == job_.params->end())
    throw Error(ErrorKind::input, "job " + job_.id + " has no parameter '" + name + "'",
                "see schemas/probes/" + probe_.name + ".json");
  return *found;
}

bool State::has(const std::string& name) const {
  const auto found = job_.params->find(name);
  return found != job_.params->end() && !found->is_null();
}

std::string State::text(const std::string& name) const { return param(name).get<std::string>(); }
std::int64_t State::integer(const std::string& name) const {
  return param(name).get<std::int64_t>();
}
double State::number(const std::string& name) const { return param(name).get<double>(); }
bool State::flag(const std::string& name) const { return param(name).get<bool>(); }

bool State::lists(const std::string& name, std::string_view value) const {
  const Json& list = param(name);
  return std::ranges::find(list, Json(value)) != list.end();
}

const MetricInfo& State::metric_info(const std::string& name) const {
  for (const MetricInfo& metric : probe_.metrics)
    if (metric.name == name) return metric;
  throw Error(ErrorKind::internal,
              "probe " + probe_.name + " reports undeclared metric '" + name + "'",
              "declare it in schemas/probes/" + probe_.name + ".json and build again");
}

std::optional<Limit> State::known_limit(const std::string& metric, const Json& params) const {
  for (const KnownLimit& known : job_.limits)
    if (known.metric == metric && applies(known, params)) return known.limit;
  return {};
}

std::optional<KnownResult> State::known_result(const Json& key) const {
  for (const KnownResult& known : job_.golden)
    if (known.key == key) return known;
  return {};
}

Samples State::blank(const std::string& metric, const Json& params) const {
  const MetricInfo& info = metric_info(metric);
  Samples samples;
  samples.metric = metric;
  samples.unit = info.unit;
  samples.better = info.better;
  samples.params = params;
  samples.stop = "fixed";
  return samples;
}

Measured State::measure(const Measurement& m) {
  const HostPressure before = HostPressure::now();
  const Seconds begin = device_.now();
  const TimedSeries series = Sampler(device_, group_, job_.measure, crowding_).run(m);
  const HostPressure after = HostPressure::now();
  phases_["warm_up"] += series.warm_up_s;
  phases_["measure"] += series.measure_s;

  if (group_.size() > 1)
    if (auto chunk = rank_times(group_, m.params, series.own)) write(std::move(*chunk));

  const Seconds verify_start = device_.now();
  std::optional<Check> check;
  if (m.verify) check = agree(group_, m.verify());
  const Seconds verified = device_.now();
  phases_["verify"] += (verified - verify_start).value;
  const Seconds warm = begin + Seconds{series.warm_up_s};
  spans_.push_back({"warm_up", m.params, begin, warm});
  spans_.push_back({"measure", m.params, warm, warm + Seconds{series.measure_s}});
  if (m.verify) spans_.push_back({"verify", m.params, verify_start, verified});

  Quality quality;
  quality.cpu_share = series.cpu_s / (series.measure_s * std::max(m.threads, 1));
  quality.steal_share = steal_share(before, after);
  quality.throttled_s = throttled(before, after);
  quality.others_share = series.others_share;
  quality.wall_s = series.measure_s;
  if (!series.clocks.empty()) quality.clock_hz = median(series.clocks);

  const Json chosen = m.chosen ? m.chosen() : Json(nullptr);
  Measured measured;
  measured.clean = count_clean(series.flags);
  measured.flags = series.flags;
  measured.median = {median(representative(series.seconds, series.flags))};
  if (quality.clock_hz) measured.clock = Hertz{*quality.clock_hz};
  measured.cycles = median_cycles(series);
  measured.conditions = of_median(series.flags, quality);
  for (const Report& report : m.reports) {
    Samples samples = blank(report.metric, m.params);
    if (report.unit) samples.unit = *report.unit;
    samples.values = series.seconds;
    if (report.amount)
      for (double& value : samples.values) value = *report.amount / value;
    samples.flags = series.flags;
    samples.over = group_.size() == 1 ? "rank" : m.timing == Timing::isolated ? "max" : "mean";
    samples.stop = series.stop;
    samples.repeats = series.calls;
    samples.limit = report.limit ? report.limit : known_limit(report.metric, m.params);
    const bool by_clock = report.cycle_limit && measured.clock;
    if (by_clock) samples.limit = at_clock(*report.cycle_limit, *measured.clock);
    samples.check = check;
    samples.chosen = chosen;
    samples.quality = quality;
    const Status outcome = emit(std::move(samples), by_clock ? highest_clock(series.clocks) : 1.0);
    if (outcome != Status::ok) measured.outcome = outcome;
  }
  return measured;
}

/// Judges a series by its check and its limit, then writes it; returns its outcome.
Status State::emit(Samples samples, double highest_clock) {
  if (samples.outcome == Status::skipped) {
    ++skipped_;
    write(std::move(samples));
    return Status::skipped;
  }
  const std::vector<double> clean = representative(samples.values, samples.flags);
  const double centre = median(clean);
  if (samples.check && !samples.check->passed()) {
    samples.outcome = Status::invalid;
    samples.reason = "wrong result: " + samples.check->method + " found an error of " +
                     format(samples.check->error, Unit::count) +
                     ", allowed: " + format(samples.check->tolerance, Unit::count);
  } else if (!std::isfinite(centre)) {
    samples.outcome = Status::invalid;
    samples.reason = "the median is not a finite number";
  } else if (samples.limit) {
    const auto wrong = above_limit(centre, samples.better, *samples.limit, highest_clock);
    if (!wrong.empty()) {
      samples.outcome = Status::invalid;
      samples.reason = wrong;
    }
  }
  if (samples.outcome == Status::ok && samples.reason.empty() && !samples.flags.empty() &&
      count_clean(samples.flags) == 0)
    samples.reason = why_not_clean(samples);
  if (samples.outcome == Status::invalid)
    conclude(Status::invalid, samples.metric + " " + dump(samples.params) + ": " + samples.reason);
  ++measured_;
  const Status outcome = samples.outcome;
  write(std::move(samples));
  return outcome;
}

void State::value(const std::string& metric, double value, const Json& params,
                  std::optional<Limit> limit, std::optional<Check> check) {
  Samples samples = blank(metric, params);
  samples.values = {value};
  samples.flags = {kClean};
  samples.limit = limit ? limit : known_limit(metric, params);
  samples.check = check;
  emit(std::move(samples));
}

void State::values(const std::string& metric, std::vector<double> values, const Json& params,
                   const std::string& over) {
  Samples samples = blank(metric, params);
  samples.over = over;
  samples.flags.assign(values.size(), kClean);
  samples.values = std::move(values);
  samples.limit = known_limit(metric, params);
  emit(std::move(samples));
}

void JudgedSeries::value(const std::string& metric, double value, const Json& params,
                         std::optional<Limit> limit, std::optional<Check> check) const {
  Samples samples = state_.blank(metric, params);
  samples.values = {value};
  samples.flags = {conditions_.over_all()};
  if (count_clean(samples.flags) == 0) samples.reason = conditions_.reason;
  samples.limit = limit ? limit : state_.known_limit(metric, params);
  samples.check = check;
  samples.quality = conditions_.quality;
  state_.emit(std::move(samples));
}

void JudgedSeries::values(const std::string& metric, std::vector<double> values, const Json& params,
                          const std::string& over) const {
  Samples samples = state_.blank(metric, params);
  samples.over = over;
  const auto& flags = conditions_.flags;
  samples.flags.assign(values.size(), conditions_.over_all());
  if (flags.size() == values.size()) samples.flags = flags;
  if (count_clean(samples.flags) == 0) samples.reason = conditions_.reason;
  samples.values = std::move(values);
  samples.limit = state_.known_limit(metric, params);
  samples.quality = conditions_.quality;
  state_.emit(std::move(samples));
}

void State::skip_series(const std::string& metric, const Json& params, const std::string& reason) {
  Samples samples = blank(metric, params);
  samples.outcome = Status::skipped;
  samples.reason = reason;
  emit(std::move(samples));
  if (reason_.empty()) reason_ = reason;
}

void State::skip(const std::string& reason) { conclude(Status::skipped, reason); }
void State::prevent(const std::string& reason) {
  event(kPreventedEvent, {{"why", reason}});
  skip(reason);
}
void State::invalid(const std::string& reason) { conclude(Status::invalid, reason); }

void State::conclude(Status status, const std::string& reason) {
  if (status_ != Status::ok && worse(status_, status) == status_)
    return;  // the first reason is kept
  status_ = status;
  reason_ = reason;
}

void State::facts(const std::string& topic, const Json& facts) { write(Facts{topic, facts}); }
void State::chunk(const std::string& name, const Json& columns) { write(Chunk{name, columns}); }
void State::event(const std::string& key, const Json& value) { write(Event{key, value}); }

Outcome State::finish() {
  const double total = (device_.now() - started_).value;
  double named = 0.0;
  for (const auto& [name, seconds] : phases_) named += seconds;
  phases_["prepare"] = std::max(0.0, total - named);
  for (const auto& [name, seconds] : phases_) write(Phase{name, seconds});

  Outcome outcome{status_, status_ == Status::ok ? "" : reason_, total};
  if (status_ == Status::ok && measured_ == 0) {
    outcome.status = skipped_ > 0 ? Status::skipped : Status::failed;
    outcome.reason = skipped_ > 0 ? reason_ : "the probe reported nothing";
  }
  return outcome;
}

}  // namespace bench
