#include "results/output/verdicts/training_json.h"

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/order_statistics.h"
#include "results/output/verdicts/diagnosis_json.h"
#include "results/output/verdicts/profile_output.h"
#include "results/verdicts/training/training_scaling.h"
#include "results/verdicts/training/training_summary.h"

namespace bench {
namespace {

Json curve_json(const TrainingRun& run) {
  Json points = Json::array();
  for (const CurvePoint& point : run.curve)
    points.push_back({{"samples", number_or_null(point.samples)},
                      {"seconds", number_or_null(point.seconds)},
                      {"gap", number_or_null(point.gap)},
                      {"native", number_or_null(point.native)}});
  return points;
}

Json slowdowns_json(const TrainingRun& run) {
  Json slowdowns = Json::array();
  for (const TrainingSlowdown& slowdown : run.slowdowns) slowdowns.push_back(to_json(slowdown));
  return slowdowns;
}

Json faults_json(const TrainingRun& run) {
  Json faults = Json::array();
  for (const TrainingFault& fault : run.faults)
    faults.push_back({{"check", fault.check}, {"text", fault.text}});
  return faults;
}

/// A time to a target that was not reached is none.
Json run_json(const TrainingRun& run) {
  const bool converged = run.state == TrainingState::converged;
  return {{"run", run.run},
          {"job", run.job},
          {"hosts", run.setup.on},
          {"ranks", run.setup.ranks},
          {"seed", run.seed},
          {"state", to_string(run.state)},
          {"reason", text_or_null(run.reason)},
          {"converged", converged},
          {"resumed", run.resumed_from > 0},
          {"resumed_from_step", run.resumed_from > 0 ? Json(run.resumed_from) : Json()},
          {"quality", number_or_null(run.quality)},
          {"samples_to_target", converged ? number_or_null(run.samples_to_target) : Json()},
          {"seconds_to_target", converged ? number_or_null(run.seconds_to_target) : Json()},
          {"init_s", number_or_null(run.init_seconds)},
          {"throughput", number_or_null(run.items_per_second)},
          {"mfu", run.mfu},
          {"step_time_median_s", number_or_null(run.step_median)},
          {"step_time_p95_s", number_or_null(run.step_p95)},
          {"energy_j", number_or_null(run.energy_j)},
          {"energy_of", text_or_null(run.energy_of)},
          {"checks", run.checks},
          {"checks_not_held", faults_json(run)},
          {"slowdowns", slowdowns_json(run)},
          {"curve", curve_json(run)}};
}

Json variation_json(const Variation& variation) {
  return {{"n", variation.n},
          {"mean", number_or_null(variation.mean)},
          {"cv", number_or_null(variation.cv)},
          {"cv_low", number_or_null(variation.low)},
          {"cv_high", number_or_null(variation.high)},
          {"runs_needed", number_or_null(variation.runs_needed)},
          {"runs_needed_low", number_or_null(variation.runs_needed_low)},
          {"runs_needed_high", number_or_null(variation.runs_needed_high)}};
}

Json breakdown_json(const TrainingGroup& group) {
  Json phases = Json::array();
  for (const TrainingPhase& phase : group.breakdown)
    phases.push_back({{"phase", phase.phase},
                      {"seconds", number_or_null(phase.seconds)},
                      {"share", number_or_null(phase.share)},
                      {"slowest_rank", text_or_null(phase.slowest_rank)}});
  return phases;
}

/// Medians over the runs that count.
Json shares_json(const TrainingGroup& group) {
  const auto of_runs = [&](double TimeShares::*share) {
    std::vector<double> values;
    for (const TrainingRun& run : group.runs)
      if (was_timed(run) && std::isfinite(run.shares.*share)) values.push_back(run.shares.*share);
    return number_or_null(median(values));
  };
  return {{"data_stall", of_runs(&TimeShares::data_stall)},
          {"exposed_communication", of_runs(&TimeShares::exposed_communication)},
          {"overlap_ratio", of_runs(&TimeShares::overlap_ratio)},
          {"goodput", of_runs(&TimeShares::goodput)}};
}

Json memory_json(const TrainingGroup& group) {
  Json labels = Json::array();
  for (const TrainingMemory& memory : group.memory)
    labels.push_back({{"label", memory.label}, {"bytes", number_or_null(memory.bytes)}});
  return labels;
}

Json runs_json(const TrainingGroup& group) {
  Json runs = Json::array();
  for (const TrainingRun& run : group.runs) runs.push_back(run_json(run));
  return runs;
}

Json group_json(const TrainingGroup& group) {
  const TrainingSetup& setup = group.setup;
  const auto ranks = static_cast<double>(setup.ranks);
  const Json& peak = field(group.facts, "peak_flops");
  return {{"workload", setup.workload},
          {"preset", setup.preset},
          {"dtype", setup.dtype},
          {"device", setup.device},
          {"hosts", setup.on},
          {"ranks", setup.ranks},
          {"lanes", setup.lanes},
          {"batch", setup.batch},
          {"steps", setup.steps},
          {"target", number_or_null(setup.target)},
          {"runs", runs_json(group)},
          {"olympic_mean_s", number_or_null(group.time.mean)},
          {"olympic_mean_low_s", number_or_null(group.time.low)},
          {"olympic_mean_high_s", number_or_null(group.time.high)},
          {"olympic_mean_of", mean_words(group)},
          {"resumed", group.resumed},
          {"resumed_counted", group.resumed_counted},
          {"not_converged", group.time.without},
          {"spread_seconds", variation_json(group.seconds)},
          {"spread_samples", variation_json(group.samples)},
          {"item", items_word(group)},
          {"throughput", number_or_null(group.items_per_second)},
          {"throughput_low", number_or_null(group.items_low)},
          {"throughput_high", number_or_null(group.items_high)},
          {"throughput_interval", text_or_null(group.items_interval)},
          {"throughput_per_rank", number_or_null(group.items_per_second / ranks)},
          {"mfu", number_or_null(group.mfu)},
          {"mfu_peak", peak.is_object() ? peak : Json()},
          {"model_flops", number_or_null(group.flops)},
          {"gemm_flops", number_or_null(group.gemm.flops)},
          {"gemm_source", text_or_null(group.gemm.source)},
          {"of_gemm", number_or_null(of_gemm(group))},
          {"breakdown", breakdown_json(group)},
          {"shares", shares_json(group)},
          {"memory", memory_json(group)},
          {"straggler_spread", number_or_null(group.straggler_spread)},
          {"energy_j", number_or_null(group.energy_j)},
          {"energy_of", text_or_null(group.energy_of)},
          {"facts", group.facts}};
}

Json ladder_json(const BatchLadder& ladder) {
  Json points = Json::array();
  for (const BatchPoint& point : ladder.points)
    points.push_back({{"batch", point.batch},
                      {"micro_batch", point.micro_batch > 0 ? Json(point.micro_batch) : Json()},
                      {"throughput", number_or_null(point.items_per_second)},
                      {"low", number_or_null(point.low)},
                      {"high", number_or_null(point.high)},
                      {"memory_bytes", number_or_null(point.memory)},
                      {"samples", number_or_null(point.samples)},
                      {"gap", number_or_null(point.gap)},
                      {"reason", text_or_null(point.reason)}});
  const auto batch_of = [&](const std::optional<std::size_t>& index) {
    return index ? Json(ladder.points[*index].batch) : Json();
  };
  return {{"samples", ladder.samples},
          {"points", std::move(points)},
          {"fastest", batch_of(ladder.fastest)},
          {"enough", batch_of(ladder.enough)}};
}

Json scaling_json(const Scaling& scaling) {
  Json points = Json::array();
  for (const ScalingPoint& point : scaling.points)
    points.push_back({{"n", point.ranks},
                      {"value", number_or_null(point.items_per_second)},
                      {"efficiency", number_or_null(point.efficiency)},
                      {"low", number_or_null(point.low)},
                      {"high", number_or_null(point.high)},
                      {"time_efficiency", number_or_null(point.time_efficiency)},
                      {"time_low", number_or_null(point.time_low)},
                      {"time_high", number_or_null(point.time_high)}});
  return {{"kind", scaling.weak ? "weak" : "strong"},
          {"metric", "throughput"},
          {"base", scaling.base},
          {"interval", scaling.interval},
          {"points", points}};
}

/// A single group's keys at the top level; for several groups the equal values, and all runs.
Json top_json(const Json& groups) {
  if (groups.size() == 1) return groups[0];
  Json top = {{"runs", Json::array()}};
  for (const char* key : {"workload", "preset", "olympic_mean_s", "throughput", "mfu"})
    top[key] = nullptr;
  for (const char* key : {"workload", "preset"}) {
    const bool equal = std::ranges::all_of(
        groups, [&](const Json& group) { return group[key] == groups[0][key]; });
    if (equal && !groups.empty()) top[key] = groups[0][key];
  }
  for (const Json& group : groups)
    for (const Json& run : group["runs"]) top["runs"].push_back(run);
  return top;
}

/// Diagnoses of all runs, with the run's ID.
Json diagnosis_json(const TrainingReport& report) {
  Json list = Json::array();
  for (const DiagnosedRun& run : report.diagnosed)
    for (const diagnosis::Diagnosed& one : run.diagnoses) {
      list.push_back(diagnosis::to_json(one));
      list.back()["run"] = run.run;
    }
  return list;
}

}  // namespace

Json to_json(const TrainingReport& report) {
  Json groups = Json::array(), scalings = Json::array();
  for (const TrainingGroup& group : report.groups) groups.push_back(group_json(group));
  for (const Scaling& scaling : report.scalings) scalings.push_back(scaling_json(scaling));
  Json ladders = Json::array();
  for (const BatchLadder& ladder : report.batch_ladders) ladders.push_back(ladder_json(ladder));
  Json json = top_json(groups);
  json["kept_runs"] = report.runs;
  json["exit_code"] = static_cast<int>(report.exit_code);
  json["interrupted"] = report.interrupted;
  json["note"] = note_of(report);
  json["warnings"] = report.warnings;
  json["series"] = scalings;
  json["batch_ladders"] = ladders;
  json["diagnosis"] = diagnosis_json(report);
  json["bands"] = to_json(compare_with_bands(banded_figures(report), BandCatalogue::installed()));
  json.update(to_json(report.profiles));
  json["groups"] = std::move(groups);
  return json;
}

}  // namespace bench
