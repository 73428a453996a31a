#include "probes/training/training_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/clean.h"
#include "training/engine/plan.h"
#include "training/trainer/exchange_rules.h"

namespace bench::training {
namespace {

// How much of a peak a training uses. Model FLOPs utilization (MFU, PaLM, arXiv 2204.02311) counts
// what the model needs: three forward passes of its GEMMs (two where weights are frozen). Hardware
// FLOPs utilization
// (HFU) also counts what is computed twice: segments that are recomputed, and in attention's
// backward pass the probabilities.

/// Forward and backward over the batch of the plan's graph, with what is computed again.
double hardware_flops(const Plan& plan) {
  const auto& nodes = plan.graph->nodes();
  double flops = plan.graph->training_flops();
  for (const Node& node : nodes) flops += node.op->repeated_flops();
  for (const Action& action : plan.actions)  // only parts of a segment are recomputed
    if (action.phase == Phase::recompute)
      flops += nodes[static_cast<std::size_t>(action.node)].op->flops();
  return flops;
}

}  // namespace

}  // namespace bench::training

namespace bench {
namespace {

using training::TrainedStep;

// The first steps meet cold caches and untouched memory.
constexpr std::int64_t kColdSteps = 10;
constexpr std::int64_t kStepsOfWindow = 10;

/// A divided model is another series: "tp=2,pp=2,1f1b". So is an exchange of less: "topk=0.01".
Json series_params(const FinishedTraining& f) {
  Json params = {{"workload", f.workload.name()}, {"preset", f.workload.preset()}};
  if (const std::string split = split_text(f); !split.empty()) params["split"] = split;
  if (const std::string exchange = text_of(f.options.parallel.method); !exchange.empty())
    params["exchange"] = exchange;
  return params;
}

/// Steps per second in each window of steps between two evaluations, without the evaluations.
struct StepRates {
  std::vector<double> rates = {};
  Conditions conditions = {};  // of each window
};
StepRates step_rates(const FinishedTraining& f) {
  const auto& steps = f.run.steps;
  const auto count = static_cast<std::int64_t>(steps.size());
  // A single evaluation at the end is no reason for a single window.
  const bool evaluates = f.options.steps == 0 && f.options.recipe.evaluation_every > 0 &&
                         f.options.recipe.evaluation_every < f.options.recipe.horizon;
  const auto [first_step, window] = rate_windows(
      count, evaluates ? f.options.recipe.evaluation_every : 0, f.options.parallel.method);
  StepRates found;
  found.conditions.quality = f.steps.quality;
  for (std::int64_t begin = first_step; begin + window <= count; begin += window) {
    double seconds = 0.0;
    for (std::int64_t i = begin; i < begin + window; ++i)
      seconds += steps[static_cast<std::size_t>(i)].seconds;
    found.rates.push_back(static_cast<double>(window) / seconds);
    const auto first = static_cast<std::size_t>(begin);
    found.conditions.flags.push_back(f.steps.over(first, first + static_cast<std::size_t>(window)));
    found.conditions.seconds.push_back(seconds);
  }
  return found;
}

/// Of a share of this peak: not clean if the peak is not.
Conditions against(const TrainingPeak& peak, Conditions rates) {
  if (peak.clean) return rates;
  for (unsigned& flags : rates.flags) flags |= kStolen;
  rates.reason = "the peak it is a share of was measured without a clean sample";
  return rates;
}

std::vector<double> times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

std::string no_convergence_reason(const State& state, const FinishedTraining& f) {
  const auto& run = f.run;
  if (run.curve.empty())
    return fmt::format("throughput only: {} steps, no evaluation", run.steps.size());
  for (const auto& check : run.checks)
    if (!check.held) return check.check + ": " + check.text;
  if (state.integer("sample_budget") > 0)
    return fmt::format("trained on {:.0f} samples without a target", run.curve.back().samples);
  return fmt::format("not converged: gap {:.4g} after {:.0f} samples, {}", run.curve.back().gap,
                     run.curve.back().samples, target_text(f.options.recipe.target));
}

void write_utilization(State& state, const FinishedTraining& f, const StepRates& found) {
  const std::vector<double>& rates = found.rates;
  Json params = series_params(f);
  const double model = f.workload.flops_per_sample() * static_cast<double>(f.options.recipe.batch) /
                       state.group().size();
  const double needed = f.trainer.model().graph->training_flops();
  if (!(model > 0.0) || !(needed > 0.0)) return;
  const double passes = static_cast<double>(f.trainer.split().lanes) *
                        static_cast<double>(f.trainer.split().micro_batches);
  // The model's FLOPs may have parts outside of its graph, of which nothing is recomputed.
  const double executed = passes * training::hardware_flops(f.trainer.plan());
  // Parts of a model differ, and some things are computed by several ranks.
  const double hardware = f.trainer.ranks().part().is_whole()
                              ? model + executed - passes * needed
                              : total(state.group(), executed) / state.group().size();
  Json of_type = params;
  of_type["dtype"] = to_string(f.options.dtype);
  state.under(found.conditions).values("model_flops", times(rates, model), of_type, "mean");
  const auto peaks = training_peaks(state);
  if (peaks.empty())
    for (const char* metric : {"mfu", "hfu"})
      state.skip_series(
          metric, params,
          "no peak is known: set peak_flops, or measure gemm earlier in the same run");
  for (const TrainingPeak& peak : peaks) {
    params["peak"] = peak.kind;
    const Conditions conditions = against(peak, found.conditions);
    const JudgedSeries shares = state.under(conditions);
    shares.values("mfu", times(rates, model / peak.value), params, "mean");
    shares.values("hfu", times(rates, hardware / peak.value), params, "mean");
  }
}

void write_convergence(State& state, const FinishedTraining& f) {
  const Json params = series_params(f);
  if (converged_and_valid(f.run)) {
    Json of_time = params;  // another series: the time of several processes
    if (f.run.first_step > 0) of_time["resumed"] = true;
    state.under(f.steps).value("time_to_target", f.run.curve.back().seconds, of_time);
    state.value("samples_to_target", *f.run.samples_to_target_interpolated, params);
  } else {
    for (const char* metric : {"time_to_target", "samples_to_target"})
      state.skip_series(metric, params, no_convergence_reason(state, f));
  }
  if (f.run.curve.empty())
    state.skip_series("quality", params, no_convergence_reason(state, f));
  else
    state.value("quality", f.run.curve.back().gap, params);
}

}  // namespace

RateWindows rate_windows(std::int64_t steps, std::int64_t evaluation_every,
                         const training::ExchangeMethod& method) {
  const std::int64_t usual =
      evaluation_every > 0 ? evaluation_every : rounded_to_period(kStepsOfWindow, method);
  const std::int64_t length = std::min(usual, std::max<std::int64_t>(1, steps));
  return {std::min(rounded_to_period(kColdSteps, method), steps - length), length};
}

std::string target_text(std::optional<double> target) {
  return target ? fmt::format("target {:.4g}", *target)
                : "no target is known for this data: set the parameter target";
}

std::vector<TrainingPeak> training_peaks(const State& state) {
  std::vector<TrainingPeak> peaks;
  if (state.has("peak_flops"))
    peaks.push_back({state.number("peak_flops"), "given", "parameter peak_flops"});
  if (const auto limit = state.known_limit("model_flops", {{"dtype", state.text("dtype")}}))
    peaks.push_back(
        {limit->value, "measured", limit->source, !limit->source.ends_with(kDisturbedSource)});
  return peaks;
}

void write_training_series(State& state, const FinishedTraining& f) {
  const Json params = series_params(f);
  std::vector<double> seconds;
  for (const TrainedStep& step : f.run.steps) seconds.push_back(step.seconds);
  state.under(f.steps).values("step_time", std::move(seconds), params, "max");
  const StepRates rates = step_rates(f);
  const double items = static_cast<double>(f.options.recipe.batch * f.workload.items_per_sample());
  state.under(rates.conditions)
      .values("items_per_second", times(rates.rates, items), params, "max");
  write_utilization(state, f, rates);
  if (f.options.split.pipeline > 1)
    state.under(f.steps).value("pipeline_bubble", training::pipeline_bubble(f.run.breakdown),
                               params);
  double bytes = 0.0;
  for (const training::MemoryUse& use : f.run.memory) bytes += static_cast<double>(use.bytes);
  state.value("memory", bytes, params);
  write_convergence(state, f);
}

}  // namespace bench
