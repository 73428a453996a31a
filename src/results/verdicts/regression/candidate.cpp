#include "results/verdicts/regression/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/order_statistics.h"
#include "core/wire.h"
#include "results/stats/e_divisive.h"
#include "results/stats/false_discovery.h"

namespace bench {
namespace {

constexpr std::int64_t kLongestNight = std::int64_t{12} * 3600 * 1'000'000'000;

struct Place {
  std::int64_t run, time_ns;
  std::uint32_t series, index;
};

/// All values by run. Series of one plan mostly share their runs, so runs are counted, not sorted.
std::vector<Place> by_run(std::span<const std::vector<RunValue>* const> series) {
  std::int64_t first = INT64_MAX, last = 0;
  for (const auto* values : series)
    if (!values->empty()) {
      first = std::min(first, values->front().run);
      last = std::max(last, values->back().run);
    }
  if (first > last) return {};
  std::vector<std::size_t> begin(static_cast<std::size_t>(last - first) + 2, 0);
  for (const auto* values : series)
    for (const RunValue& value : *values) ++begin[static_cast<std::size_t>(value.run - first) + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<Place> places(begin.back());
  for (std::size_t s = 0; s < series.size(); ++s)
    for (std::size_t i = 0; i < series[s]->size(); ++i) {
      const RunValue& value = (*series[s])[i];
      places[begin[static_cast<std::size_t>(value.run - first)]++] = {
          value.run, value.time_ns, static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(i)};
    }
  return places;
}

}  // namespace

Nights nights_of(std::span<const std::vector<RunValue>* const> series) {
  Nights nights{0, std::vector<std::vector<std::uint32_t>>(series.size())};
  for (std::size_t s = 0; s < series.size(); ++s) nights.of[s].resize(series[s]->size());
  const std::vector<Place> places = by_run(series);
  std::vector<std::size_t> last_night(series.size(), 0);  // counted from 1
  std::int64_t began = 0;
  for (std::size_t first = 0; first < places.size();) {
    std::size_t end = first;
    bool again = false;  // a series that had its value of this night
    for (; end < places.size() && places[end].run == places[first].run; ++end)
      again = again || last_night[places[end].series] == nights.count;
    if (nights.count == 0 || again || places[first].time_ns - began > kLongestNight) {
      ++nights.count;
      began = places[first].time_ns;
    }
    for (; first < end; ++first) {
      last_night[places[first].series] = nights.count;
      nights.of[places[first].series][places[first].index] =
          static_cast<std::uint32_t>(nights.count - 1);
    }
  }
  return nights;
}

std::size_t missing_tonight(const Nights& nights) {
  constexpr std::size_t kRecentNights = 7;
  return static_cast<std::size_t>(std::ranges::count_if(nights.of, [&](const auto& of) {
    const std::size_t behind = nights.count - 1 - of.back();
    return behind > 0 && behind <= kRecentNights;
  }));
}

std::vector<double> common_movement(const Nights& nights,
                                    std::span<const std::vector<double>> axis_values,
                                    std::size_t fewest) {
  if (axis_values.size() < fewest) return {};
  std::vector<std::vector<double>> distances(nights.count);
  for (std::size_t s = 0; s < axis_values.size(); ++s) {
    const double own = median(axis_values[s]);
    for (std::size_t i = 0; i < axis_values[s].size(); ++i)
      distances[nights.of[s][i]].push_back(axis_values[s][i] - own);
  }
  std::vector<double> movement;
  double last = 0.0;
  bool any = false;
  for (const auto& night : distances) {
    if (night.size() >= fewest) {
      last = median(night);
      any = true;
    }
    movement.push_back(last);
  }
  return any ? movement : std::vector<double>{};
}

namespace {

// For single series, however few: a quarter of the permitted false alarm rate of one in a hundred.
constexpr double kMostLastingP = 0.0025;

bool is_worse(const ChangeFinding& finding) {
  return finding.key.better == Better::none ||
         (finding.effect < 0.0) == (finding.key.better == Better::higher);
}

void take_newest(ScopeTally& tally, const RegressionOptions& options, std::vector<Candidate>& out) {
  const auto worse = adjusted_bh(tally.worse_p), better = adjusted_bh(tally.better_p);
  for (Candidate& candidate : tally.newest) {
    candidate.finding.q = (is_worse(candidate.finding) ? worse : better)[candidate.test];
    if (candidate.p <= options.most_p && candidate.finding.q <= options.q)
      out.push_back(std::move(candidate));
  }
}

/// Series without a candidate count as tests with p = 1.
void take_lasting(ScopeTally& tally, const RegressionOptions& options,
                  std::vector<Candidate>& out) {
  std::vector<double> p;
  for (const Candidate& candidate : tally.lasting) p.push_back(candidate.p);
  p.resize(std::max(p.size(), tally.series), 1.0);
  const auto q = adjusted_bh(p);
  for (std::size_t i = 0; i < tally.lasting.size(); ++i) {
    tally.lasting[i].finding.q = q[i];
    if (tally.lasting[i].p <= kMostLastingP && q[i] <= options.q)
      out.push_back(std::move(tally.lasting[i]));
  }
}

}  // namespace

std::vector<Candidate> accepted(Tally tally, const RegressionOptions& options,
                                RegressionReport& report) {
  std::vector<Candidate> out;
  for (const FindingScope scope : {FindingScope::fleet, FindingScope::host}) {
    ScopeTally& part = tally.of(scope);
    const std::size_t earlier = out.size();
    take_newest(part, options, out);
    take_lasting(part, options, out);
    report.families.push_back({scope, part.series, out.size() - earlier});
    report.tested += part.series;
  }
  report.missing = tally.missing;
  report.too_short = tally.too_short;
  report.q = options.q;
  report.newest.number = tally.newest_run;
  return out;
}

std::string finding_id(const ChangeFinding& finding) {
  const std::string text =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", to_string(finding.scope),
                  finding.kind == ChangeKind::newest, finding.key.metric, dump(finding.key.params),
                  finding.key.host, finding.key.device, finding.key.ranks, finding.key.over);
  return fmt::format("{:08x}", checksum(text));
}

Scale::Scale(bool is_log, std::span<const double> values) : log_(is_log) {
  if (log_) return;
  const double level = std::abs(median(values));
  if (level > 0.0) unit_ = level;
}

double Scale::of(double value) const { return log_ ? std::log(value) : value / unit_; }
double Scale::value(double place) const { return log_ ? std::exp(place) : place * unit_; }
double Scale::share(double distance) const { return log_ ? std::expm1(distance) : distance; }
double Scale::up(double threshold) const { return log_ ? std::log1p(threshold) : threshold; }
double Scale::down(double threshold) const {
  return log_ ? -std::log1p(-std::min(threshold, 0.99)) : threshold;
}

namespace {

constexpr std::size_t kSameOtavaPlace = 3;

HistoryVerdict verdict_of(Better better, const Change& change, const Thresholds& at_least) {
  const bool up = change.shift_low > at_least.up, down = change.shift_high < -at_least.down;
  if ((!up && !down) || better == Better::none) return HistoryVerdict::changed;
  return up == (better == Better::higher) ? HistoryVerdict::improved : HistoryVerdict::regressed;
}

double level_before(const LevelHistory& history, std::size_t at) {
  std::size_t i = 0;
  while (i + 1 < history.segments.begins.size() && history.segments.begins[i + 1] < at) ++i;
  return history.segments.levels[i];
}

void draw(const Judged& one, ChangeFinding& finding) {
  const LevelHistory& history = one.history;
  const Segments& segments = history.segments;
  for (std::size_t i = 0, segment = 0; i < history.values.size(); ++i) {
    if (segment + 1 < segments.begins.size() && segments.begins[segment + 1] == i) ++segment;
    const RunValue& value = one.member->values[i];
    finding.points.push_back({.run = value.run,
                              .time_ns = value.time_ns,
                              .value = one.scale.value(history.values[i]),
                              .configuration = value.configuration});
    finding.levels.push_back(one.scale.value(segments.levels[segment]));
  }
}

bool otava_agrees(const Judged& one, std::size_t place) {
  std::vector<double> values;
  for (const double value : one.history.values) values.push_back(one.scale.value(value));
  return std::ranges::any_of(otava_changes(values), [&](std::size_t at) {
    return std::max(at, place) - std::min(at, place) <= kSameOtavaPlace;
  });
}

}  // namespace

Scale scale_of(const Member& member, bool is_log) {
  std::vector<double> values;
  for (const RunValue& value : member.values) values.push_back(value.value);
  return {is_log, values};
}

Thresholds thresholds_on(const Scale& scale, double threshold) {
  return {scale.up(threshold), scale.down(threshold)};
}

Candidate candidate_of(const Judged& one, FindingScope scope, ChangeKind kind, const Change& change,
                       double threshold, bool ask_otava) {
  const std::vector<RunValue>& values = one.member->values;
  const auto place = [&](std::size_t i) { return RunPlace{values[i].run, "", values[i].time_ns}; };
  Candidate result{.finding = {.scope = scope,
                               .kind = kind,
                               .key = one.member->key,
                               .effect = one.scale.share(change.shift),
                               .low = one.scale.share(change.shift_low),
                               .high = one.scale.share(change.shift_high),
                               .threshold = threshold,
                               .value = values.back().value,
                               .since = place(change.at),
                               .since_low = place(change.low),
                               .since_high = place(change.high),
                               .before = change.before,
                               .after = change.after,
                               .votes = change.votes,
                               .voters = change.voters},
                   .p = change.p};
  ChangeFinding& finding = result.finding;
  finding.verdict = verdict_of(finding.key.better, change, thresholds_on(one.scale, threshold));
  if (change.until > 0) finding.until = place(change.until);
  const double moved = one.movement.empty() ? 0.0 : one.movement.back();
  finding.expected = one.scale.value(level_before(one.history, change.at) + moved);
  draw(one, finding);
  if (ask_otava && kind == ChangeKind::step) {
    ++finding.voters;
    finding.votes += otava_agrees(one, change.at);
  }
  finding.id = finding_id(finding);
  return result;
}

void collect_configurations(const std::vector<RunValue>& values, std::int64_t from, std::int64_t to,
                            std::vector<std::pair<std::int64_t, std::int64_t>>& pairs) {
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i].run >= from && values[i].run <= to &&
        values[i].configuration != values[i - 1].configuration)
      pairs.emplace_back(values[i - 1].configuration, values[i].configuration);
}

}  // namespace bench
