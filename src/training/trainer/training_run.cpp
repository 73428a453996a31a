#include "training/trainer/training_run.h"

#include <algorithm>

#include "core/error.h"
#include "training/engine/state_file.h"

namespace bench::training {

std::string_view to_string(RunPhase phase) {
  constexpr std::string_view kNames[] = {"data",
                                         "rollout",
                                         "transfer",
                                         "forward",
                                         "backward",
                                         "tensor_exchange",
                                         "context_exchange",
                                         "expert_exchange",
                                         "pipeline_wait",
                                         "exchange_exposed",
                                         "compression",
                                         "optimizer",
                                         "offload_wait",
                                         "lane_wait",
                                         "evaluation",
                                         "checkpoint",
                                         "checks",
                                         "other",
                                         "exchange_hidden"};
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

double pipeline_bubble(const std::vector<PhaseTime>& breakdown) {
  double waited = 0.0, all = 0.0;
  for (const PhaseTime& time : breakdown) {
    const bool waits = time.phase == RunPhase::pipeline_wait;
    if (waits) waited += time.mean.value;
    if (waits || time.phase == RunPhase::forward || time.phase == RunPhase::backward ||
        time.phase == RunPhase::tensor_exchange || time.phase == RunPhase::context_exchange ||
        time.phase == RunPhase::expert_exchange)
      all += time.mean.value;
  }
  return all > 0.0 ? waited / all : 0.0;
}

Seconds expected_wait(const Offload& offload, const std::vector<PhaseTime>& breakdown) {
  constexpr RunPhase kOutside[] = {RunPhase::offload_wait, RunPhase::evaluation,
                                   RunPhase::checkpoint, RunPhase::checks, RunPhase::other};
  Seconds steps;
  for (const PhaseTime& time : breakdown)
    if (time.share && std::ranges::find(kOutside, time.phase) == std::end(kOutside))
      steps += time.mean;
  const auto excess = [](Seconds needed, Seconds hidden) {
    return needed > hidden ? needed - hidden : Seconds{};
  };
  const auto windows = static_cast<double>(offload.windows);
  const double in_passes = std::min(1.0, static_cast<double>(StateWindows::kBuffers) / windows);
  const Seconds busy = offload.moving + offload.hashing;
  return excess(busy * (1.0 - in_passes), offload.updating) +
         excess(busy * in_passes, steps - offload.updating);
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

namespace {

/// In the order of CurvePoint.
Json row_of(const CurvePoint& p) {
  return {p.step, p.samples, p.seconds, p.gap, p.native, p.floor, p.loss};
}

CurvePoint point_of(const Json& row) {
  const auto number = [&](std::size_t column) { return row.at(column).get<double>(); };
  return {row.at(0).get<std::int64_t>(),
          number(1),
          number(2),
          number(3),
          number(4),
          number(5),
          number(6)};
}

}  // namespace

Json to_json(const RunProgress& progress) {
  Json curve = Json::array();
  for (const CurvePoint& point : progress.curve) curve.push_back(row_of(point));
  return {{"elapsed_s", progress.elapsed.value},
          {"curve", curve},
          {"norms", {progress.norms.seen, progress.norms.mean, progress.norms.variance}},
          {"loss_scale",
           {progress.loss_scale.value, progress.loss_scale.unbroken, progress.loss_scale.skipped}}};
}

RunProgress run_progress_from_json(const Json& json) try {
  RunProgress progress;
  progress.elapsed = {json.at("elapsed_s").get<double>()};
  for (const Json& row : json.at("curve")) progress.curve.push_back(point_of(row));
  const Json& norms = json.at("norms");
  progress.norms = {norms.at(0).get<int>(), norms.at(1).get<double>(), norms.at(2).get<double>()};
  const Json& scale = json.at("loss_scale");
  progress.loss_scale = {scale.at(0).get<double>(), scale.at(1).get<std::int64_t>(),
                         scale.at(2).get<std::int64_t>()};
  return progress;
} catch (const Json::exception& error) {
  throw Error(ErrorKind::input,
              std::string("the training progress in the checkpoint is damaged: ") + error.what(),
              "restart the training from the beginning");
}

}  // namespace bench::training
