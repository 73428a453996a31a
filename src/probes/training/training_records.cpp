#include "probes/training/training_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/dtype.h"
#include "core/text.h"
#include "probes/training/profile_records.h"
#include "probes/training/training_base.h"
#include "probes/training/training_series.h"
#include "training/trainer/exchange_rules.h"

namespace bench {
namespace {

using training::CurvePoint;
using training::TrainedStep;
using training::TrainingRun;

/// One column of a table.
template <class Rows, class Field>
Json column(const Rows& rows, Field field) {
  Json values = Json::array();
  for (const auto& row : rows) values.push_back(field(row));
  return values;
}

Json curve_of(const TrainingRun& run) {
  return {{"samples", column(run.curve, [](const CurvePoint& p) { return p.samples; })},
          {"seconds", column(run.curve, [](const CurvePoint& p) { return p.seconds; })},
          {"gap", column(run.curve, [](const CurvePoint& p) { return p.gap; })},
          {"native", column(run.curve, [](const CurvePoint& p) { return p.native; })},
          {"loss", column(run.curve, [](const CurvePoint& p) { return p.loss; })}};
}

Json steps_of(const TrainingRun& run) {
  Json numbers = Json::array();
  for (std::size_t i = 0; i < run.steps.size(); ++i)
    numbers.push_back(run.first_step + static_cast<std::int64_t>(i));
  const auto norm = [](const TrainedStep& s) {
    return std::isfinite(s.gradient_norm) ? Json(s.gradient_norm) : Json(nullptr);  // skipped
  };
  return {{"step", numbers},
          {"loss", column(run.steps, [](const TrainedStep& s) { return s.loss; })},
          {"gradient_norm", column(run.steps, norm)},
          {"rate", column(run.steps, [](const TrainedStep& s) { return s.rate; })},
          {"seconds", column(run.steps, [](const TrainedStep& s) { return s.seconds; })}};
}

/// Rollouts are a phase of the workloads that have them, compression of exchanges that compress,
/// and some exchanges of divided models.
Json breakdown_of(const TrainingRun& run) {
  using training::PhaseTime;
  std::vector<PhaseTime> phases = run.breakdown;
  std::erase_if(phases, [](const PhaseTime& p) {
    const bool of_some =
        p.phase == training::RunPhase::rollout || p.phase == training::RunPhase::tensor_exchange ||
        p.phase == training::RunPhase::context_exchange ||
        p.phase == training::RunPhase::expert_exchange ||
        p.phase == training::RunPhase::compression ||
        p.phase == training::RunPhase::pipeline_wait || p.phase == training::RunPhase::offload_wait;
    return of_some && p.mean.value == 0.0;
  });
  const auto share = [](const PhaseTime& p) { return p.share ? Json(*p.share) : Json(nullptr); };
  return {{"phase", column(phases, [](const PhaseTime& p) { return to_string(p.phase); })},
          {"seconds", column(phases, [](const PhaseTime& p) { return p.mean.value; })},
          {"share", column(phases, share)},
          {"slowest_rank", column(phases, [](const PhaseTime& p) { return p.slowest_rank; })}};
}

Json checkpoints_of(const TrainingRun& run) {
  using training::SavedCheckpoint;
  return {{"step", column(run.checkpoints, [](const SavedCheckpoint& c) { return c.step; })},
          {"seconds", column(run.checkpoints, [](const SavedCheckpoint& c) { return c.seconds; })},
          {"bytes", column(run.checkpoints, [](const SavedCheckpoint& c) { return c.bytes; })}};
}

Json memory_of(const TrainingRun& run) {
  using training::MemoryUse;
  return {{"label", column(run.memory, [](const MemoryUse& m) { return m.label; })},
          {"bytes", column(run.memory, [](const MemoryUse& m) { return m.bytes; })}};
}

Json checks_of(const TrainingRun& run) {
  return column(run.checks, [](const training::TrainingCheck& c) {
    return Json{{"check", c.check}, {"held", c.held}, {"text", c.text}};
  });
}

/// The loss scaling of f16; null for other types.
Json loss_scale_of(const TrainingRun& run) {
  if (!run.loss_scale) return nullptr;
  return {{"final", run.loss_scale->value}, {"skipped_steps", run.loss_scale->skipped}};
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// What a rank contributed to the exchange per step of this run: the last period of local steps
/// may have been shorter.
double exchanged_per_step(const FinishedTraining& f) {
  const training::ExchangeMethod& method = f.options.parallel.method;
  const auto steps = static_cast<std::int64_t>(f.run.steps.size());
  const double usual = training::exchanged_bytes(method, f.trainer.plan());
  if (!method.is_local() || steps == 0) return usual;
  return usual * static_cast<double>(rounded_to_period(steps, method)) / static_cast<double>(steps);
}

/// Bytes that a rank contributes to the exchange per step, without table rows: of its gradient, or
/// of what is exchanged in its place. Null for a single rank, and for parts of models, which
/// differ.
Json exchange_bytes(const FinishedTraining& f) {
  if (f.trainer.split().ranks < 2 || !f.trainer.ranks().part().is_whole()) return nullptr;
  return exchanged_per_step(f);
}

/// How ranks exchange less than whole gradients, and the share of their bytes that is left; null if
/// they exchange all.
Json exchange_of_less(const FinishedTraining& f) {
  const training::ExchangeMethod& method = f.options.parallel.method;
  if (method.kind == training::ExchangeKind::full) return nullptr;
  const double bytes = exchanged_per_step(f);
  return {{"kind", to_string(method.kind)},
          {"setting", text_of(method)},
          {"bytes_ratio", bytes / training::exchanged_bytes({}, f.trainer.plan())}};
}

/// Optimizer state in files; null if it is in memory.
Json offload_of(const FinishedTraining& f) {
  if (!f.run.offload) return nullptr;
  const training::Offload& offload = *f.run.offload;
  return {{"file_system", f.offload_files},
          {"direct", offload.direct},
          {"bytes", offload.bytes},
          {"moved_bytes", offload.moved},
          {"windows", offload.windows},
          {"moving_seconds", offload.moving.value},
          {"hashing_seconds", offload.hashing.value},
          {"wait_seconds", offload.waited.value},
          {"expected_wait_seconds", training::expected_wait(offload, f.run.breakdown).value}};
}

int zero_of(const FinishedTraining& f) {
  if (f.options.split.shard_parameters) return f.options.split.keep_gathered ? 2 : 3;
  return f.options.parallel.shard_optimizer ? 1 : 0;
}

/// How the model is divided over ranks; null if each has a whole one.
Json division_of(const FinishedTraining& f) {
  const training::ModelSplit& split = f.options.split;
  const training::ModelPart& part = f.trainer.ranks().part();
  if (part.is_whole()) return nullptr;
  const int micro_batches = f.trainer.split().micro_batches;
  const bool pipeline = split.pipeline > 1;
  return {
      {"tp", split.tensor},
      {"cp", split.context},
      {"pp", split.pipeline},
      {"vp", split.chunks},
      {"ep", split.expert},
      {"dp", f.trainer.ranks().copies()},
      {"sp", split.sequence_parallel},
      {"zero", zero_of(f)},
      {"not_compared", f.run.not_compared},
      {"schedule", pipeline ? Json(to_string(split.schedule)) : Json(nullptr)},
      {"bubble", pipeline ? Json(training::pipeline_bubble(f.run.breakdown)) : Json(nullptr)},
      {"ideal_bubble", pipeline ? Json(training::ideal_bubble(split.schedule, part, micro_batches))
                                : Json(nullptr)}};
}

Json outcome_of(const FinishedTraining& f) {
  const TrainingRun& run = f.run;
  Json parts = Json::object();
  for (const auto& [name, gap] : run.parts) parts[name] = gap;
  const bool evaluated = !run.curve.empty(), converged = converged_and_valid(run);
  return {
      {"converged", converged},
      {"quality", evaluated ? Json(run.curve.back().gap) : Json(nullptr)},
      {"native", evaluated ? Json(run.curve.back().native) : Json(nullptr)},
      {"floor", evaluated ? Json(run.curve.back().floor) : Json(nullptr)},
      {"quality_parts", parts},
      {"samples_to_target",
       converged ? or_null(run.samples_to_target_interpolated) : Json(nullptr)},
      {"samples_at_target_evaluation", converged ? or_null(run.samples_to_target) : Json(nullptr)},
      {"seconds_to_target", converged ? Json(run.curve.back().seconds) : Json(nullptr)},
      {"init_seconds", run.initialisation.value},
      {"run_seconds", run.wall.value},
      {"resumed_from_step", run.first_step > 0 ? Json(run.first_step) : Json(nullptr)},
      {"straggler_spread", run.straggler_spread},
      {"exchange_bytes", exchange_bytes(f)},
      {"exchange", exchange_of_less(f)},
      {"offload", offload_of(f)},
      {"exchange_overlaps", f.trainer.exchange_overlaps()},
      {"host", f.host},
      {"loss_scale", loss_scale_of(run)},
      {"checks", checks_of(run)}};
}

std::string target_source(const training::Recipe& recipe) {
  if (!recipe.target) return "none";
  return recipe.target_source.empty() ? "provisional" : recipe.target_source;
}

/// How often each training sample was used, on average; null if none is used again.
Json epochs_of(const FinishedTraining& f, const Json& data) {
  if (data.is_null()) return nullptr;
  const auto steps = f.run.first_step + static_cast<std::int64_t>(f.run.steps.size());
  return static_cast<double>(steps * f.options.recipe.batch) / data.at("samples").get<double>();
}

/// Null without tables.
Json table_threads_of(const FinishedTraining& f) {
  const int threads = f.trainer.table_threads();
  return threads > 0 ? Json(threads) : Json(nullptr);
}

Json setting_of(const FinishedTraining& f) {
  const training::Recipe& recipe = f.options.recipe;
  const training::BatchSplit& split = f.trainer.split();
  const Json data = f.workload.data();
  Json baselines = Json::object();
  for (const auto& [name, gap] : f.workload.baselines()) baselines[name] = gap;
  if (f.options.base != nullptr) baselines["unadapted base"] = f.options.base->unadapted;
  return {{"workload", f.workload.name()},
          {"preset", f.workload.preset()},
          {"item", f.workload.item()},
          {"items_per_sample", f.workload.items_per_sample()},
          {"parameters", f.trainer.parameter_count()},
          {"frozen_parameters",
           f.trainer.model().graph->parameter_count() - f.trainer.model().graph->trainable_count()},
          {"base", base_facts(f.options.base)},
          {"flops_per_sample", f.workload.flops_per_sample()},
          {"optimizer", f.trainer.optimizer_name()},
          {"batch", recipe.batch},
          {"micro_batch", split.micro_batch},
          {"micro_batches", split.micro_batches},
          {"memory_need", f.memory},
          {"horizon", recipe.horizon},
          {"steps", f.options.steps},
          {"target", or_null(recipe.target)},
          {"baselines", baselines},
          {"target_source", target_source(recipe)},
          {"floor_kind", f.workload.knows_floor() ? "attainable" : "bound"},
          {"data", data},
          {"epochs", epochs_of(f, data)},
          {"cache", f.cache},
          {"evaluation_every", recipe.evaluation_every},
          {"evaluation_samples", recipe.evaluation_samples},
          {"lanes", split.lanes},
          {"table_threads", table_threads_of(f)},
          {"ranks", f.trainer.ranks().all().size()},
          {"division", division_of(f)},
          {"dtype", to_string(f.options.dtype)},
          {"kernels", f.kernels},
          {"seed", f.options.seed}};
}

}  // namespace

std::string split_text(const FinishedTraining& f) {
  const training::ModelPart& part = f.trainer.ranks().part();
  if (part.is_whole()) return "";
  std::vector<std::string> words;
  if (part.tensor_ranks > 1) words.push_back(fmt::format("tp={}", part.tensor_ranks));
  if (part.sequence_parallel) words.emplace_back("sp=1");
  if (!part.context.is_whole()) words.push_back(fmt::format("cp={}", part.context.ranks));
  if (part.stages > 1)
    words.push_back(fmt::format("pp={},{}", part.stages, to_string(f.options.split.schedule)));
  if (part.chunks > 1) words.push_back(fmt::format("vp={}", part.chunks));
  if (part.expert_ranks > 1) words.push_back(fmt::format("ep={}", part.expert_ranks));
  if (const int zero = zero_of(f); zero > 0) words.push_back(fmt::format("zero={}", zero));
  return join(words, ",");
}

bool converged_and_valid(const TrainingRun& run) {
  return run.converged &&
         std::ranges::all_of(run.checks, [](const training::TrainingCheck& c) { return c.held; });
}

void write_training(State& state, const FinishedTraining& finished) {
  const TrainingRun& run = finished.run;
  write_training_series(state, finished);
  if (!run.curve.empty()) state.chunk("curve", curve_of(run));
  state.chunk("steps", steps_of(run));
  state.chunk("breakdown", breakdown_of(run));
  if (!run.checkpoints.empty()) state.chunk("checkpoints", checkpoints_of(run));
  state.chunk("memory", memory_of(run));
  if (run.profile) write_profile(state, *run.profile);
  Json facts = setting_of(finished);
  facts.update(outcome_of(finished));
  if (state.device().kind() == "host")  // of all steps, mean over ranks and their threads
    facts["processor_s"] = {{"data", run.processor.data.value},
                            {"forward", run.processor.forward.value},
                            {"backward", run.processor.backward.value},
                            {"update", run.processor.update.value}};
  if (const auto peaks = training_peaks(state); !peaks.empty())
    facts["peak_flops"] = {{"value", peaks.front().value},
                           {"kind", peaks.front().kind},
                           {"source", peaks.front().source},
                           {"clean", peaks.front().clean}};
  state.facts("training", facts);
  for (const training::TrainingCheck& check : run.checks)
    if (!check.held) state.invalid(check.check + ": " + check.text);
}

}  // namespace bench
