#include "results/regression/peer_group.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/statistics/series_noise.h"

namespace bench {
namespace {

constexpr std::size_t kRecentNights = 7;  // a series silent for longer has retired

class GroupJudge {
 public:
  GroupJudge(const std::vector<Member>& members, const RegressionOptions& options, Tally& tally)
      : options_(options),
        tally_(tally),
        declared_(declaration(members.front().key.metric)),
        threshold_(options.threshold > 0.0 ? options.threshold : declared_.threshold) {
    for (const Member& member : members) judge_or_leave(member);
  }

  void operator()() {
    count_missing();
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
  void judge_or_leave(const Member& member) {
    if (member.values.empty()) return;
    tally_.newest_run = std::max(tally_.newest_run, member.values.back().run);
    all_.push_back(&member.values);
    if (declared_.exact) return judge_exact(member);
    if (member.values.size() <= kFewestNights) {
      ++tally_.too_short;
      return;
    }
    std::vector<double> values;
    for (const RunValue& value : member.values) values.push_back(value.value);
    series_.push_back({&member, Scale(declared_, values)});
  }

  void count_missing() {
    const Nights nights = nights_of(all_);
    for (const auto& of : nights.of) {
      const std::size_t behind = nights.count - 1 - of.back();
      tally_.missing += behind > 0 && behind <= kRecentNights;
    }
  }

  /// Values on their axes, without what all share.
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

  /// Segments under the noise that all of a kind have; what they say of a variance.
  NoisePrior settle(std::vector<Judged>& series) {
    NoisePrior prior{.floor = declared_.noise_floor, .pooled = series.size() >= kFewestMembers};
    std::vector<double> correlations, variances, degrees;
    for (const Judged& one : series) correlations.push_back(one.history.correlation);
    const double inflation = variance_inflation(median(correlations));
    for (Judged& one : series) {
      LevelHistory& history = one.history;
      history.inflation = inflation;
      history.segments = segments_of(steps_, history.values, history.sigma, inflation,
                                     thresholds_on(one.scale, threshold_));
      const auto nights = history.nights();
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
    fleet_.key = series_.front().member->key;
    fleet_.key.host.clear();
    fleet_.key.id = 0;
    fleet_.key.device = kind_of_device(fleet_.key.device);
    fleet_.values.assign(nights_.count, {});
    std::vector<double> levels;
    for (std::size_t s = 0; s < series_.size(); ++s) {
      for (std::size_t i = 0; i < nights_.of[s].size(); ++i) {
        RunValue& night = fleet_.values[nights_.of[s][i]];
        if (night.run == 0) night = series_[s].member->values[i];
      }
      levels.push_back(median(series_[s].history.values));
    }
    Judged fleet{&fleet_, series_.front().scale};
    const double level = median(levels), centre = median(movement_);
    std::vector<double> values;
    for (std::size_t night = 0; night < movement_.size(); ++night) {
      values.push_back(level + movement_[night] - centre);
      fleet_.values[night].value = fleet.scale.value(values.back());
    }
    fleet.history = measured(std::move(values), declared_.noise_floor);
    std::vector<Judged> alone;
    alone.push_back(std::move(fleet));
    const NoisePrior own = settle(alone);
    judge_one(alone.front(), FindingScope::fleet, own);
  }

  void judge_one(const Judged& one, FindingScope own_scope, const NoisePrior& prior) {
    // A value that several hosts made together is nobody's own.
    const FindingScope scope = one.member->key.host.empty() ? FindingScope::fleet : own_scope;
    ScopeTally& tally = tally_.of(scope);
    ++tally.series;
    const Thresholds at_least = thresholds_on(one.scale, threshold_);
    if (const auto drift = drift_of(one.history, at_least)) {
      tally.lasting.push_back(candidate(one, scope, ChangeKind::drift, *drift));
      return;
    }
    for (const Change& change : changes_of(one.history, at_least, prior.variance))
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

  /// Values that must be equal: the last difference of neighbours stands until somebody has spoken.
  void judge_exact(const Member& member) {
    const FindingScope scope = member.key.host.empty() ? FindingScope::fleet : FindingScope::host;
    ScopeTally& tally = tally_.of(scope);
    ++tally.series;
    const auto& values = member.values;
    std::size_t at = values.size() - 1;
    while (at > 0 && values[at].value == values[at - 1].value) --at;
    if (at == 0) return;
    std::vector<double> all;
    for (const RunValue& value : values) all.push_back(value.value);
    Judged one{&member, Scale(declared_, all)};
    for (const double value : all) one.history.values.push_back(one.scale.of(value));
    one.history.segments = {{0, at}, {one.history.values[at - 1], one.history.values[at]}};
    Change change{.at = at, .low = at, .high = at, .before = at, .after = values.size() - at};
    change.shift = one.history.values[at] - one.history.values[at - 1];
    change.shift_low = change.shift_high = change.shift;
    change.p = 0.0;
    tally.lasting.push_back(candidate(one, scope, ChangeKind::exact, change));
  }

  const RegressionOptions& options_;
  Tally& tally_;
  MetricDeclaration declared_;
  double threshold_;
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

std::string kind_of_device(const std::string& device) { return device.substr(0, device.find(':')); }

void judge(const std::vector<Member>& members, const RegressionOptions& options, Tally& tally) {
  if (!members.empty()) GroupJudge(members, options, tally)();
}

}  // namespace bench
