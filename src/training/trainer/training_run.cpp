#include "training/trainer/training_run.h"

#include <algorithm>

namespace bench::training {

std::string_view to_string(RunPhase phase) {
  constexpr std::string_view kNames[] = {
      "data",      "transfer",       "forward",    "backward",   "exchange_exposed",
      "optimizer", "lane_wait",      "evaluation", "checkpoint", "checks",
      "other",     "exchange_hidden"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::vector<PhaseTime> Breakdown::over_ranks(Group& group, Seconds wall) const {
  std::array<double, kRunPhases + 1> own = {};
  Seconds claimed;
  for (std::size_t i = 0; i < kRunPhases; ++i) {
    own.at(i) = times_.at(i).value;
    if (static_cast<RunPhase>(i) != RunPhase::exchange_hidden) claimed += times_.at(i);
  }
  own.at(static_cast<std::size_t>(RunPhase::other)) += (wall - claimed).value;
  own.back() = wall.value;
  auto sum = own, most = own;
  group.sum(sum);
  group.max(most);
  std::array<double, kRunPhases> who = {};  // the last of those that have the most
  for (std::size_t i = 0; i < kRunPhases; ++i)
    if (own.at(i) == most.at(i)) who.at(i) = group.rank();
  group.max(who);

  std::vector<PhaseTime> phases;
  for (std::size_t i = 0; i < kRunPhases; ++i) {
    PhaseTime time{
        static_cast<RunPhase>(i), {sum.at(i) / group.size()}, static_cast<int>(who.at(i))};
    if (time.phase != RunPhase::exchange_hidden && sum.back() > 0.0)
      time.share = sum.at(i) / sum.back();
    phases.push_back(time);
  }
  return phases;
}

std::optional<double> samples_to_target(const std::vector<CurvePoint>& curve,
                                        std::optional<double> target) {
  if (curve.empty() || !meets(curve.back().gap, target)) return {};
  const CurvePoint& last = curve.back();
  if (curve.size() < 2) return last.samples;
  const CurvePoint& before = curve[curve.size() - 2];
  if (!(before.gap > *target)) return last.samples;
  const double part = (before.gap - *target) / (before.gap - last.gap);
  return before.samples + std::clamp(part, 0.0, 1.0) * (last.samples - before.samples);
}

}  // namespace bench::training
