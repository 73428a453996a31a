#include "results/regression/candidate.h"

#include <algorithm>

#include "results/statistics/e_divisive.h"

namespace bench {
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
