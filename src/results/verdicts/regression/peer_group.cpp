#include "results/verdicts/regression/peer_group.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/series_noise.h"
#include "results/verdicts/regression/candidate.h"

namespace bench {
namespace {

// Values that must be equal in every run, such as device counts: compared, not tested.

struct ExactChange {
  Judged judged;
  Change change;
};

/// The last difference between neighbours, reported until someone decides on it; nothing if all are
/// equal. The member must outlive it.
std::optional<ExactChange> exact_change(const Member& member) {
  const auto& values = member.values;
  std::size_t at = values.size() - 1;
  while (at > 0 && values[at].value == values[at - 1].value) --at;
  if (at == 0) return {};
  Judged judged{&member, scale_of(member, false)};
  std::vector<double>& places = judged.history.values;
  for (const RunValue& value : values) places.push_back(judged.scale.of(value.value));
  judged.history.segments = {{0, at}, {places[at - 1], places[at]}};
  Change change{.at = at, .low = at, .high = at, .before = at, .after = values.size() - at};
  change.shift = change.shift_low = change.shift_high = places[at] - places[at - 1];
  change.p = 0.0;
  return ExactChange{std::move(judged), change};
}

}  // namespace

SharedSeries shared_series(const std::vector<Judged>& series, const Nights& nights,
                           const std::vector<double>& movement) {
  SharedSeries fleet;
  fleet.member.key = series.front().member->key;
  fleet.member.key.host.clear();
  fleet.member.key.id = 0;
  fleet.member.key.device = kind_of_device(fleet.member.key.device);
  fleet.member.values.assign(nights.count, {});
  std::vector<double> levels;
  for (std::size_t s = 0; s < series.size(); ++s) {
    for (std::size_t i = 0; i < nights.of[s].size(); ++i) {
      RunValue& night = fleet.member.values[nights.of[s][i]];
      if (night.run == 0) night = series[s].member->values[i];
    }
    levels.push_back(median(series[s].history.values));
  }
  const double level = median(levels), centre = median(movement);
  for (std::size_t night = 0; night < movement.size(); ++night) {
    fleet.axis.push_back(level + movement[night] - centre);
    fleet.member.values[night].value = series.front().scale.value(fleet.axis.back());
  }
  return fleet;
}

namespace {

Member member_of(const SeriesHistory& history) {
  Member member{history.key, {}};
  member.values.reserve(history.points.size());
  for (const Point& point : history.points)
    if (std::isfinite(point.value))
      member.values.push_back({point.run, point.time_ns, point.configuration, point.value});
  return member;
}

}  // namespace

void each_group(const Histories& histories, const RegressionOptions& options,
                const std::function<void(const std::vector<Member>&)>& take) {
  std::string metric;
  Json params;
  std::map<std::tuple<std::string, std::string, int, Unit>, std::vector<Member>> kinds;
  const auto finish = [&] {
    for (const auto& [kind, members] : kinds) take(members);
    kinds.clear();
  };
  Selection selection = options.selection;
  selection.hosts.clear();  // each is judged among its peers
  if (selection.most_points == 0) selection.most_points = options.most_points;
  histories.each(selection, [&](const SeriesHistory& history) {
    const SeriesKey& key = history.key;
    if (key.metric != metric || key.params != params) {
      finish();
      metric = key.metric;
      params = key.params;
    }
    kinds[{kind_of_device(key.device), key.over, key.ranks, key.unit}].push_back(
        member_of(history));
  });
  finish();
}

namespace {

bool is_positive(const Member& member) {
  return std::ranges::all_of(member.values,
                             [](const RunValue& value) { return value.value > 0.0; });
}

class GroupJudge {
 public:
  GroupJudge(const std::vector<Member>& members, const RegressionOptions& options, Tally& tally)
      : options_(options),
        tally_(tally),
        declared_(declaration(members.front().key.metric)),
        threshold_(options.threshold > 0.0 ? options.threshold : declared_.threshold),
        is_log_(declared_.log_scale && std::ranges::all_of(members, is_positive)) {
    for (const Member& member : members) add_member(member);
  }

  void operator()() {
    tally_.missing += missing_tonight(nights_of(all_));
    if (series_.empty()) return;
    measure();
    judge_fleet();
    const NoisePrior prior = settle(series_);
    for (Judged& one : series_) judge_one(one, FindingScope::host, prior);
  }

  SettledGroup group() {
    SettledGroup result;
    if (series_.empty()) return result;
    measure();
    result.prior = settle(series_);
    for (Judged& one : series_) {
      result.thresholds.push_back(thresholds_on(one.scale, threshold_));
      result.histories.push_back(std::move(one.history));
    }
    return result;
  }

 private:
  void add_member(const Member& member) {
    if (member.values.empty()) return;
    tally_.newest_run = std::max(tally_.newest_run, member.values.back().run);
    all_.push_back(&member.values);
    if (declared_.exact) return judge_exact(member);
    if (member.values.size() <= kFewestNights) {
      ++tally_.too_short;
      return;
    }
    // All on one kind of axis: their distances are compared.
    series_.push_back({&member, scale_of(member, is_log_)});
  }

  /// Values on their axes, minus the common movement.
  void measure() {
    std::vector<std::vector<double>> axis;
    std::vector<const std::vector<RunValue>*> values;
    for (const Judged& one : series_) {
      values.push_back(&one.member->values);
      axis.emplace_back();
      for (const RunValue& value : one.member->values)
        axis.back().push_back(one.scale.of(value.value));
    }
    if (series_.size() >= kFewestMembers) {
      nights_ = nights_of(values);
      movement_ = common_movement(nights_, axis, kFewestMembers);
    }
    const double centre = movement_.empty() ? 0.0 : median(movement_);
    for (std::size_t s = 0; s < series_.size(); ++s) {
      Judged& one = series_[s];
      for (std::size_t i = 0; !movement_.empty() && i < axis[s].size(); ++i) {
        one.movement.push_back(movement_[nights_.of[s][i]] - centre);
        axis[s][i] -= one.movement.back();
      }
      one.history = measured(std::move(axis[s]), declared_.noise_floor);
    }
  }

  /// Segments using the noise of all series of the kind, and the variance prior from them.
  NoisePrior settle(std::vector<Judged>& series) {
    std::vector<double> correlations;
    for (const Judged& one : series) correlations.push_back(one.history.correlation);
    const double inflation = variance_inflation(median(correlations));
    for (Judged& one : series) {
      LevelHistory& history = one.history;
      history.inflation = inflation;
      history.segments = segments_of(steps_, history.values, history.sigma, inflation,
                                     thresholds_on(one.scale, threshold_));
    }
    set_correlations(series);
    NoisePrior prior = noise_of(series);
    // A series alone knows neither its correlation nor its tails well enough.
    if (!prior.pooled) return prior;
    for (Judged& one : series) add_step(one, prior);
    return noise_of(series);
  }

  /// The series' own values, a step among them, are no part of the tails that it is held against.
  void add_step(Judged& one, const NoisePrior& all) const {
    const auto nights = one.history.nights();
    NoisePrior others{.variance = all.variance, .floor = all.floor, .pooled = all.pooled};
    others.below = all.below.without(nights, true);
    others.above = all.above.without(nights, false);
    add_recent_step(one.history, thresholds_on(one.scale, threshold_), others);
  }

  /// About the levels found, by all series of the kind.
  static void set_correlations(std::vector<Judged>& series) {
    std::vector<double> correlations, counts;
    for (const Judged& one : series) {
      correlations.push_back(
          correlation_about_levels(one.history.values, one.history.segments.begins));
      counts.push_back(static_cast<double>(one.history.values.size()));
    }
    const auto shrunk = shrunk_correlations(correlations, counts);
    for (std::size_t s = 0; s < series.size(); ++s) series[s].history.phi = shrunk[s];
  }

  NoisePrior noise_of(const std::vector<Judged>& series) const {
    NoisePrior prior{.floor = declared_.noise_floor, .pooled = series.size() >= kFewestMembers};
    std::vector<double> variances, degrees;
    for (const Judged& one : series) {
      const auto nights = one.history.nights();
      if (nights.size() < kFewestNights) continue;
      const double deviation = std::max(standard_deviation(nights), declared_.noise_floor);
      variances.push_back(deviation * deviation);
      degrees.push_back(static_cast<double>(nights.size()) - 1.0);
      if (!prior.pooled) continue;
      prior.below.add(nights, true);
      prior.above.add(nights, false);
    }
    prior.variance = variance_prior(variances, degrees);
    return prior;
  }

  void judge_fleet() {
    if (movement_.size() <= kFewestNights) return;
    SharedSeries fleet = shared_series(series_, nights_, movement_);
    fleet_ = std::move(fleet.member);
    std::vector<Judged> alone;
    alone.push_back({&fleet_, series_.front().scale});
    alone.front().history = measured(std::move(fleet.axis), declared_.noise_floor);
    const NoisePrior own = settle(alone);
    judge_one(alone.front(), FindingScope::fleet, own);
  }

  void judge_one(const Judged& one, FindingScope own_scope, const NoisePrior& prior) {
    // A value measured by several hosts together belongs to none of them.
    const FindingScope scope = one.member->key.host.empty() ? FindingScope::fleet : own_scope;
    ScopeTally& tally = tally_.of(scope);
    ++tally.series;
    const Thresholds at_least = thresholds_on(one.scale, threshold_);
    if (const auto drift = drift_of(one.history, at_least)) {
      tally.lasting.push_back(candidate(one, scope, ChangeKind::drift, *drift));
      return;
    }
    for (const Change& change : changes_of(one.history, at_least, prior))
      tally.lasting.push_back(candidate(one, scope, ChangeKind::step, change));
    const auto newest = newest_of(one.history, prior, options_.most_p);
    if (!newest) return;
    const bool lower = newest->shift < 0.0;
    const bool worse = one.member->key.better == Better::none ||
                       lower == (one.member->key.better == Better::higher);
    const double p = one.member->key.better == Better::none ? 2.0 * newest->p : newest->p;
    tally.worse_p.push_back(worse ? p : 1.0 - p);
    tally.better_p.push_back(worse ? 1.0 - p : p);
    if (p > options_.most_p || !at_least.passes(newest->shift)) return;
    tally.newest.push_back(candidate(one, scope, ChangeKind::newest, *newest));
    tally.newest.back().test = tally.worse_p.size() - 1;
    tally.newest.back().p = p;
  }

  Candidate candidate(const Judged& one, FindingScope scope, ChangeKind kind,
                      const Change& change) const {
    Candidate result = candidate_of(one, scope, kind, change, threshold_, options_.otava);
    const std::int64_t from = one.member->values[change.low].run;
    const std::int64_t to = one.member->values[change.high].run;
    if (one.member != &fleet_) {
      collect_configurations(one.member->values, from, to, result.configurations);
      return result;
    }
    for (const Judged& other : series_)
      collect_configurations(other.member->values, from, to, result.configurations);
    result.members = series_.size();
    return result;
  }

  void judge_exact(const Member& member) {
    const FindingScope scope = member.key.host.empty() ? FindingScope::fleet : FindingScope::host;
    ++tally_.of(scope).series;
    if (const auto found = exact_change(member))
      tally_.of(scope).lasting.push_back(
          candidate(found->judged, scope, ChangeKind::exact, found->change));
  }

  const RegressionOptions& options_;
  Tally& tally_;
  MetricDeclaration declared_;
  double threshold_;
  bool is_log_;
  L1Segmentation steps_;
  std::vector<const std::vector<RunValue>*> all_;
  std::vector<Judged> series_;
  Nights nights_;
  std::vector<double> movement_;  // of the fleet, by night
  Member fleet_;
};

}  // namespace

SettledGroup settled(const std::vector<Member>& members, const RegressionOptions& options) {
  Tally unused;
  return members.empty() ? SettledGroup{} : GroupJudge(members, options, unused).group();
}

void judge(const std::vector<Member>& members, const RegressionOptions& options, Tally& tally) {
  if (!members.empty()) GroupJudge(members, options, tally)();
}

}  // namespace bench
