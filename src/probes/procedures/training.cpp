// Trains a workload on data whose best attainable quality is known, until its target is met: time
// to train by MLPerf's clock, and where that time went.
#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "core/training_progress.h"
#include "devices/collectives.h"
#include "devices/memory.h"
#include "probes/probe.h"
#include "probes/shared/host_watch.h"
#include "probes/state.h"
#include "probes/storage/file_system_facts.h"
#include "probes/storage/work_folder.h"
#include "probes/training/live_progress.h"
#include "probes/training/training_base.h"
#include "probes/training/training_data.h"
#include "probes/training/training_log.h"
#include "probes/training/training_records.h"
#include "probes/training/training_series.h"
#include "probes/training/weight_export.h"
#include "training/parallel/training_kernels.h"
#include "training/trainer/exchange_rules.h"
#include "training/trainer/memory_need.h"
#include "training/workloads/workload.h"

namespace bench {
namespace {

std::uint64_t seed_of(const State& state) {
  const auto seed = static_cast<std::uint64_t>(state.integer("seed"));
  return seed > 0 ? seed : state.job().seed;
}

/// A path that is a parameter, "" where it is null; "log_{seed}.txt" is another for each seed.
std::string path_of(const State& state, const std::string& parameter) {
  if (!state.has(parameter)) return "";
  std::string name = state.text(parameter);
  constexpr std::string_view kSeed = "{seed}";
  if (const auto at = name.find(kSeed); at != std::string::npos)
    name.replace(at, kSeed.size(), std::to_string(seed_of(state)));
  return name;
}

constexpr std::int64_t kMostSteps = 1'000'000;  // as the parameter steps

/// What one rank may use, by one reading.
struct MemoryBudget {
  std::optional<double> bytes = {};  // the least of all ranks; nothing if one does not know
  bool given = false;
};

MemoryBudget memory_budget(State& state) {
  if (const double given = state.number("memory_budget"); given > 0.0) return {given, true};
  MemorySystem* memory = state.device().memory();
  const double free = memory != nullptr ? memory->available_bytes() : 0.0;
  const auto hosts = static_cast<double>(std::max<std::size_t>(1, state.job().hosts.size()));
  const bool shared = state.device().kind() == "host";
  const double share = shared ? std::min(1.0, hosts / state.group().size()) : 1.0;
  const double all = least(state.group(), free * share);
  return all > 0.0 ? MemoryBudget{all} : MemoryBudget{};
}

training::Recipe recipe_of(State& state, const training::Workload& workload) {
  training::Recipe recipe = workload.recipe();
  if (const std::int64_t batch = state.integer("batch"); batch > 0)
    recipe = with_batch(recipe, batch);
  if (state.device().kind() != "host") recipe.micro_batch = recipe.device_micro_batch;
  if (const std::int64_t most = state.integer("micro_batch"); most > 0) recipe.micro_batch = most;
  if (state.has("target")) {
    recipe.target = state.number("target");
    recipe.target_source = "given";
  }
  if (const std::int64_t samples = state.integer("sample_budget"); samples > 0) {
    recipe.horizon = recipe.evaluation_every =
        std::max<std::int64_t>(1, (samples + recipe.batch / 2) / recipe.batch);
    if (recipe.horizon > kMostSteps)
      throw Error(
          ErrorKind::input,
          fmt::format("{} samples are {} steps of {}", samples, recipe.horizon, recipe.batch),
          fmt::format("use a sample_budget of at most {} steps", kMostSteps));
    recipe.target.reset();
    recipe.target_source.clear();
  }
  if (recipe.evaluation_samples == 0 && state.integer("steps") == 0)
    throw Error(ErrorKind::input, "no evaluation data",
                "set the parameter evaluation_data, or set steps to measure throughput alone");
  return recipe;
}

training::ModelSplit split_of(const State& state) {
  return {static_cast<int>(state.integer("tp")),
          static_cast<int>(state.integer("pp")),
          training::pipeline_schedule_from(state.text("pipeline_schedule")),
          state.flag("sequence_parallel"),
          state.integer("zero") >= 2,
          state.integer("zero") == 2,
          static_cast<int>(state.integer("cp")),
          static_cast<int>(state.integer("vp")),
          static_cast<int>(state.integer("ep"))};
}

training::ExchangeMethod exchange_of(const State& state) {
  return {training::exchange_kind_from(state.text("exchange")),
          state.number("topk_share"),
          static_cast<int>(state.integer("powersgd_rank")),
          state.integer("local_steps"),
          state.number("outer_rate"),
          state.number("outer_momentum")};
}

training::TrainerOptions options_of(State& state, const training::Workload& workload,
                                    TrainingKernels& kernels) {
  training::TrainerOptions options;
  options.host_kernels = [&kernels](Dtype dtype) { return kernels.make_on_host(dtype); };
  options.recipe = recipe_of(state, workload);
  options.lanes = static_cast<int>(state.integer("lanes"));
  options.cores = state.device().cores();
  options.dtype = dtype_from(state.text("dtype"));
  options.seed = seed_of(state);
  options.steps = state.integer("steps");
  options.check_every = state.integer("check_every");
  options.recompute = state.flag("recompute");
  options.profile = state.flag("profile");
  options.checkpoint = path_of(state, "checkpoint");
  options.checkpoint_every = state.integer("checkpoint_every");
  options.resume = state.flag("resume");
  options.parallel.bucket_bytes = state.integer("bucket_bytes");
  options.split = split_of(state);
  if (state.integer("micro_batch") == 0)
    options.recipe = for_pipeline(options.recipe, options.split, state.group().size());
  options.parallel.shard_optimizer = state.flag("shard_optimizer") || state.integer("zero") == 1;
  options.parallel.overlap = state.flag("overlap");
  options.parallel.method = exchange_of(state);
  if (state.has("offload"))
    options.parallel.offload = storage::folder_or_default(state.text("offload"));
  return options;
}

/// The base of a workload that adapts one, trained or read before the clock starts. None for a job
/// that measures throughput alone, which does not depend on weights.
std::optional<training::Pretrained> base_of(State& state, const training::DataChoice& data,
                                            TrainingKernels& kernels,
                                            training::ExchangeStream* stream) {
  const std::string name = state.text("workload"), preset = state.text("preset");
  const auto base = training::make_base_workload(name, preset, state.integer("sequence"));
  if (base == nullptr || state.integer("steps") > 0) return {};
  const auto task =
      training::make_workload(name, preset, seed_of(state), state.integer("sequence"), data);
  training::TrainerOptions options = options_of(state, *base, kernels);
  options.recipe = base->recipe();
  options.lanes = 0;  // those that were asked for need not divide its batch
  options.profile = false;
  options.split = {};
  options.parallel.method = {};
  options.parallel.offload.clear();
  if (state.device().kind() != "host")
    options.recipe.micro_batch = options.recipe.device_micro_batch;
  options.parallel.stream = stream;
  return training::pretrain(
      *base, *task, options, base_cache(state),
      [&kernels](Dtype dtype) { return kernels.make(dtype); }, state.group());
}

/// Why a model cannot be divided over these ranks; "" if it can, or need not be.
std::string why_not_divided(State& state, const training::ModelSplit& split) {
  if (split.sequence_parallel && split.tensor == 1)
    return "sequence_parallel divides rows over tensor ranks: set tp";
  const bool apart = training::weight_gradients(split.schedule) == training::WeightGradients::last;
  if (split.pipeline == 1 && (split.chunks > 1 || apart))
    return fmt::format("{} divides the work of stages: set pp",
                       split.chunks > 1 ? "vp" : "zero_bubble");
  if (split.chunks > 1 && split.schedule != training::PipelineSchedule::one_forward_one_backward)
    return fmt::format(
        "pipeline_schedule {} has no order for stages of several chunks: use 1f1b, "
        "or remove vp",
        to_string(split.schedule));
  if (apart && split.shard_parameters)
    return "zero_bubble delays gradients that zero 2 and 3 sum in the backward pass: use zero 1, "
           "or 1f1b";
  if (!split.divides_model()) return "";
  if (split.ranks_of_model() == 1 && state.group().size() == 1) return "";  // a single copy
  if (const std::string workload = state.text("workload"); workload == "moe") {
    if (split.ranks_of_model() > split.expert || split.shard_parameters)
      return "moe can be divided by ep only: remove tp, cp, pp and zero above 1";
  } else if (workload != "llm") {
    return "the model of workload " + workload +
           " cannot be divided over ranks: remove tp, cp, pp, ep and zero above 1";
  } else if (split.expert > 1) {
    return "llm has no experts that ep could divide: train moe, or remove ep";
  }
  if (split.expert > 1 && (state.flag("shard_optimizer") || state.integer("zero") > 0))
    return "ranks that divide experts have different parameters, which a sharded optimizer does "
           "not know: remove zero and shard_optimizer";
  if (state.device().kind() != "host")
    return "models are divided over ranks on CPUs only: remove tp, cp, pp, ep and zero above 1";
  if (Collectives* collectives = state.group().collectives();
      collectives == nullptr || !collectives->sends_messages())
    return no_collectives(state.group());
  if (state.flag("largest_batch"))
    return "largest_batch searches whole models only: remove tp, cp, pp, ep and zero above 1";
  return "";
}

/// Sets the largest batch that fits on every rank, on as many lanes as the smallest rank has cores.
/// Free memory is not used to the last byte: libraries, tables and messages under way take some,
/// too.
void use_largest_batch(State& state, const training::Workload& workload, const MemoryBudget& budget,
                       training::TrainerOptions& options) {
  constexpr double kUsed = 0.85;
  if (!budget.bytes)
    throw Error(ErrorKind::environment, "cannot find out how much memory is free",
                "set the parameter memory_budget");
  if (options.lanes == 0) options.lanes = static_cast<int>(least(state.group(), options.cores));
  const std::int64_t samples = training::largest_micro_batch(
      workload, options.lanes, options.dtype, options.recompute,
      budget.given ? *budget.bytes : kUsed * *budget.bytes, options.parallel, state.group().size());
  training::Recipe& recipe = options.recipe;
  recipe.micro_batch = std::max<std::int64_t>(1, samples);
  recipe = with_batch(recipe, recipe.micro_batch * options.lanes * state.group().size());
}

struct MemoryFit {
  Json facts = nullptr;      // {"bytes", "available", "largest_batch"} of one rank
  std::string why_not = {};  // "" if the training fits on every rank
};

/// Stages differ; context ranks and copies do not. Of tensor ranks, the last has the most tokens of
/// the vocabulary.
training::MemoryNeed need_of_fullest_rank(const training::Workload& workload,
                                          const training::BatchSplit& split,
                                          const training::TrainerOptions& options, int ranks) {
  training::MemoryNeed most;
  const int stages = options.split.pipeline;
  for (int stage = 0; stage < stages; ++stage) {
    const training::ModelPart part = training::part_of_rank(
        options.split, stage * (ranks / stages) + options.split.tensor - 1, ranks);
    const training::MemoryNeed need =
        training::memory_need(workload, split, options.dtype, options.recompute,
                              {part, options.split.schedule, options.parallel});
    if (need.total() > most.total()) most = need;
  }
  return most;
}

/// With embedding tables the need is a lower bound.
MemoryFit memory_fit(State& state, const training::Workload& workload, const MemoryBudget& budget,
                     const training::TrainerOptions& options) {
  const training::BatchSplit split = training::split_batch(options, state.group().size());
  const training::MemoryNeed need =
      need_of_fullest_rank(workload, split, options, state.group().size());
  MemoryFit fit;
  fit.facts = {{"bytes", need.total()},
               {"available", budget.bytes ? Json(*budget.bytes) : Json(nullptr)},
               {"largest_batch", state.flag("largest_batch")}};
  if (budget.bytes && static_cast<double>(need.total()) > *budget.bytes)
    fit.why_not = fmt::format(
        "out of memory: {} samples at once on {} lanes need {} per rank, {} of it for {}; {} is "
        "{}",
        split.micro_batch, split.lanes, format(Bytes{static_cast<double>(need.total())}),
        format(Bytes{static_cast<double>(need.largest().bytes)}), need.largest().label,
        format(Bytes{*budget.bytes}), budget.given ? "allowed" : "free");
  fit.why_not = agreed(state.group(), fit.why_not);
  return fit;
}

/// For a run whose checkpoint is at its end. There is no result: its checks ran in earlier
/// processes and are in their records only.
std::string already_trained_reason(const training::TrainingRun& run, std::optional<double> target) {
  const std::string left =
      fmt::format("nothing left to train: the checkpoint after step {} ", run.first_step);
  if (run.curve.empty()) return left + "is at the end of the run";
  const training::CurvePoint& last = run.curve.back();
  return left + fmt::format(
                    "{}, with a gap of {:.4g} ({}) after {:.0f} samples and "
                    "{:.4g} s; no steps remain to verify it",
                    run.converged ? "has met the target" : "is at the end of the run", last.gap,
                    target ? fmt::format("target {:.4g}", *target) : "no target", last.samples,
                    last.seconds);
}

/// The log, the conditions of each step, and what is reported while the training runs.
class WatchedSteps final : public TrainingLog {
 public:
  WatchedSteps(State& state, const std::string& file)
      : TrainingLog(state, file),
        watch_(state.device(), state.group(), Worker::device),
        live_(state) {}

  LiveProgress& live() { return live_; }
  void run_start() override {
    TrainingLog::run_start();
    live_.run_start();
  }
  void step_start() override { watch_.begin(); }
  void step_stop() override { watch_.end(); }
  void step_recorded(const training::TrainingRun& run, std::int64_t step,
                     const training::StepOutcome& outcome) override {
    live_.step_recorded(run, step, outcome);
  }
  void evaluation_stop(std::int64_t samples, const training::Quality& quality) override {
    TrainingLog::evaluation_stop(samples, quality);
    live_.evaluated(quality.gap);
  }
  void run_stop(std::int64_t samples, bool converged) override {
    TrainingLog::run_stop(samples, converged);
    live_.run_stop();
  }
  Conditions conditions() { return watch_.finish(); }

 private:
  WorkWatch watch_;
  LiveProgress live_;
};

/// The type of the file system for optimizer state in files, or why the state cannot be there; on
/// every rank the same reason.
struct OffloadFiles {
  std::string type = {}, why_not = {};
};

OffloadFiles offload_files(State& state, const std::filesystem::path& folder) {
  OffloadFiles files;
  if (folder.empty()) return files;
  try {
    std::error_code ignored;  // then the folder cannot be examined
    std::filesystem::create_directories(folder, ignored);
    const storage::FileSystemFacts facts = storage::file_system_of(folder);
    files.type = facts.type;
    if (facts.memory)
      files.why_not = fmt::format(
          "{} is in memory ({}), where offloaded optimizer state saves "
          "nothing: choose a folder on a disk",
          folder.string(), facts.type);
  } catch (const Error& error) {
    files.why_not = error.text();
  }
  files.why_not = agreed(state.group(), files.why_not);
  return files;
}

void run_training(State& state) {
  TrainingKernels* kernels = state.device().training_kernels();
  if (kernels == nullptr) return state.skip("this device has no training kernels");
  std::unique_ptr<training::ExchangeStream> stream;
  if (state.group().size() > 1) {
    stream = kernels->exchange_stream(state.group(), dtype_from(state.text("dtype")));
    const bool on_host = state.device().kind() == "host" && state.group().collectives() != nullptr;
    if (stream == nullptr && !on_host) return state.skip(no_collectives(state.group()));
  }
  if (const std::string why = why_not_divided(state, split_of(state)); !why.empty())
    return state.skip(why);
  if (state.has("offload") && state.device().kind() != "host")
    return state.skip("optimizer state is offloaded on CPUs only: remove offload");
  const std::string weights = path_of(state, "export");
  if (const std::string why = why_not_exported(state, split_of(state), weights); !why.empty())
    return state.skip(why);
  if (state.flag("profile") && state.device().kind() != "host")
    return state.skip(
        "profiles are recorded on CPUs only: a GPU works through kernels after they were launched");
  kernels->begin(state.flag("deterministic"));
  const training::DataChoice data = training_data(state);
  auto base = base_of(state, data, *kernels, stream.get());
  if (base) kernels->begin(state.flag("deterministic"));
  WatchedSteps log(state, path_of(state, "mllog"));
  const Json cache = clear_cache(state.text("workload"), data, state.group());
  log.init_start(cache);
  const Seconds begun = state.device().now();
  const auto workload = training::make_workload(state.text("workload"), state.text("preset"),
                                                seed_of(state), state.integer("sequence"), data);
  if (workload->routes_to_experts() && training::is_narrow(dtype_from(state.text("dtype"))))
    return state.skip("no kernels of routed experts for " + state.text("dtype") + ": use f32");
  if (workload->routes_to_experts() && state.device().kind() != "host")
    return state.skip("no kernels of routed experts for GPUs: workload " + workload->name() +
                      " trains on CPUs only");
  if (workload->tables() != nullptr && state.group().size() > 1 &&
      state.group().collectives() == nullptr)  // tables are in host memory
    return state.skip(no_collectives(state.group()));
  training::TrainerOptions options = options_of(state, *workload, *kernels);
  if (const std::string why = why_not_exchanged(options, *workload, state.group().size(),
                                                state.device().kind() == "host");
      !why.empty())
    return state.skip(why);
  const OffloadFiles files = offload_files(state, options.parallel.offload);
  if (!files.why_not.empty()) return state.skip(files.why_not);
  const MemoryBudget budget = memory_budget(state);
  if (state.flag("largest_batch")) use_largest_batch(state, *workload, budget, options);
  training::round_to_periods(options);
  const MemoryFit memory = memory_fit(state, *workload, budget, options);
  if (!memory.why_not.empty()) {
    state.event(kOutOfMemoryEvent, memory.facts);
    return state.skip(memory.why_not);
  }
  options.begun = begun;
  options.parallel.stream = stream.get();
  options.base = base ? &*base : nullptr;
  if (budget.bytes)
    options.check_bytes =
        std::max(0.0, *budget.bytes - memory.facts.at("bytes").get<double>()) / 2.0;
  training::Trainer trainer(
      *workload, options, [kernels](Dtype dtype) { return kernels->make(dtype); }, state.group());
  if (base) base->tensors.clear();  // the trainer has copied them
  log.init_stop(*workload, options, trainer);
  log.live().describe(*workload, options, trainer);
  HostWatch watch(state.device(), state.group());
  const training::TrainingRun run = trainer.run(log);
  const Json host = watch.facts();
  const Conditions steps = log.conditions();
  if (run.steps.empty()) {
    write_weights(state, *workload, trainer, weights);
    return state.skip(already_trained_reason(run, options.recipe.target));
  }
  write_training(state, {*workload, options, trainer, run, kernels->name(), host, steps, cache,
                         memory.facts, files.type});
  write_weights(state, *workload, trainer, weights);
}

const Registration training_probe{"training", run_training};

}  // namespace
}  // namespace bench
