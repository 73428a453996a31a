#include "training/trainer/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "devices/facts/cpu_facts.h"
#include "devices/host_clock.h"
#include "training/engine/content_hash.h"
#include "training/parallel/rank_sum.h"
#include "training/tables/sparse_tables.h"
#include "training/trainer/exchange_rules.h"
#include "training/trainer/final_checks.h"
#include "training/trainer/pretraining.h"
#include "training/workloads/rollouts.h"

namespace bench::training {
namespace {

double straggler_spread(const std::vector<PhaseTime>& breakdown, Seconds spread) {
  Seconds computed;
  for (const PhaseTime& time : breakdown)
    if (time.phase == RunPhase::forward || time.phase == RunPhase::backward) computed += time.mean;
  return computed.value > 0.0 ? spread / computed : 0.0;
}

std::int64_t in_steps(std::int64_t steps, std::int64_t batch, std::int64_t other_batch) {
  const double scaled =
      static_cast<double>(steps) * static_cast<double>(batch) / static_cast<double>(other_batch);
  return steps == 0 ? 0 : std::max<std::int64_t>(1, std::llround(scaled));
}

/// Every rank throws or none: the next thing that ranks do needs all of them.
void prepare_together(const Workload& workload, Group& group) {
  std::optional<Error> own;
  try {
    workload.prepare();
  } catch (const Error& error) {
    own = error;
  } catch (const std::exception& error) {
    own = Error(ErrorKind::environment, error.what());
  }
  const std::string first = agreed(group, own ? own->text() : "");
  if (own) throw Error(*own);
  if (!first.empty()) throw Error(ErrorKind::environment, first);
}

/// With exchanges within passes, if this rank has a part of a model.
KernelFactory with_exchanges(const KernelFactory& kernels, const ModelRanks& ranks) {
  const ModelPart& part = ranks.part();
  RankGroups groups;
  if (part.tensor_ranks > 1) groups.tensor = &ranks.tensor();
  if (part.shards > 1) groups.copies = &ranks.data();
  if (!part.context.is_whole()) groups.context = &ranks.context();
  if (part.expert_ranks > 1) groups.experts = &ranks.experts();
  return groups.none() ? kernels : with_rank_kernels(kernels, groups);
}

int usual_host_threads() {
  constexpr std::size_t kMost = 16;
  return static_cast<int>(std::min(allowed_cpus().size(), kMost));
}

}  // namespace

void Trainer::finish() {
  run_.breakdown = breakdown_.over_ranks(group_, run_.wall);
  run_.straggler_spread = straggler_spread(run_.breakdown, spread_);
  for (Seconds* phase : {&run_.processor.data, &run_.processor.forward, &run_.processor.backward,
                         &run_.processor.update})
    *phase = {total(group_, phase->value) / group_.size()};
  run_.memory = memory_of_fullest_rank();
  run_.offload = offload_of_ranks();
  if (profiler_) run_.profile = profiler_->finish();
  if (replica_->loss_scale().dynamic()) run_.loss_scale = replica_->loss_scale().state();
  run_.checks = checks_->finish(ranks_);
  FinalChecks({workload_, options_, ranks_, *parallel_, model_, split_, kernels_, done_})
      .add_to(run_);
  std::vector<double> seconds;
  for (const TrainedStep& step : run_.steps) seconds.push_back(step.seconds);
  const bool local = parallel_->local() != nullptr;
  local ? group_.sum(seconds) : group_.max(seconds);
  for (std::size_t i = 0; i < seconds.size(); ++i)
    run_.steps[i].seconds = local ? seconds[i] / group_.size() : seconds[i];
  if (!run_.converged) return;
  run_.samples_to_target = run_.curve.back().samples;
  run_.samples_to_target_interpolated = samples_to_target(run_.curve, options_.recipe.target);
}

std::vector<MemoryUse> Trainer::memory() const {
  std::vector<MemoryUse> uses;
  for (std::size_t i = 0; i < kMemoryLabels; ++i) {
    const auto label = static_cast<Label>(i);
    uses.push_back({std::string(to_string(label)), replica_->memory_bytes(label)});
  }
  uses.push_back({"optimizer", replica_->optimizer_bytes()});
  uses.push_back({"exchange", parallel_->exchange_bytes() + replica_->exchange_bytes()});
  if (const std::int64_t kept = parallel_->kept_bytes(); kept > 0)
    uses.push_back({std::string(kept_label(options_.parallel.method)), kept});
  uses.push_back({"evaluation", evaluator_->memory_bytes()});
  if (const Rollouts* rollouts = workload_.rollouts())
    uses.push_back({"rollouts", rollouts->memory_bytes()});
  if (const SparseTables* tables = workload_.tables()) {
    uses.push_back({"tables", tables->table_bytes()});
    uses.push_back({"table_buffers", tables->buffer_bytes()});
  }
  return uses;
}

/// Parts of a model differ; ranks with whole ones do not.
std::vector<MemoryUse> Trainer::memory_of_fullest_rank() const {
  std::vector<MemoryUse> uses = memory();
  if (ranks_.part().is_whole()) return uses;
  std::vector<double> own;
  for (const MemoryUse& use : uses) own.push_back(static_cast<double>(use.bytes));
  const std::vector<double> all = gather_numbers(group_, own);
  const auto total_of = [&](int rank) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(rank) * std::ssize(own);
    return std::accumulate(first, first + std::ssize(own), 0.0);
  };
  int fullest = 0;
  for (int rank = 1; rank < group_.size(); ++rank)
    if (total_of(rank) > total_of(fullest)) fullest = rank;
  for (std::size_t i = 0; i < uses.size(); ++i)
    uses[i].bytes =
        static_cast<std::int64_t>(all[static_cast<std::size_t>(fullest) * own.size() + i]);
  return uses;
}

std::optional<Offload> Trainer::offload_of_ranks() const {
  if (options_.parallel.offload.empty()) return {};
  replica_->state_file()->settle();
  const StateFile::Traffic own = replica_->state_file()->traffic();
  Offload all;
  all.bytes = total(group_, static_cast<double>(own.file_bytes));
  all.moved = total(group_, static_cast<double>(own.read_bytes + own.written_bytes));
  const auto mean = [&](Seconds time) {
    return Seconds{total(group_, time.value) / group_.size()};
  };
  all.moving = mean(own.moving);
  all.hashing = mean(own.hashing);
  all.updating = mean(own.updating);
  all.waited = mean(own.waited);
  all.windows = static_cast<std::int64_t>(
      largest(group_, static_cast<double>(replica_->state_file()->windows().count())));
  // A rank without a part of the state has no file.
  all.direct = total(group_, own.direct || own.file_bytes == 0 ? 1.0 : 0.0) == group_.size();
  return all;
}

std::int64_t Trainer::parameter_count() const {
  const SparseTables* tables = workload_.tables();
  if (!ranks_.part().is_whole())
    return workload_.model(1, options_.dtype, false).graph->parameter_count();
  return model_.graph->parameter_count() + (tables != nullptr ? tables->parameter_count() : 0);
}

int Trainer::table_threads() const {
  if (workload_.tables() == nullptr) return 0;
  return host_threads_ ? host_threads_->size() : split_.lanes;
}

std::optional<GradientOutliers::Averages> Trainer::prepare_checkpoints() {
  const Recipe& recipe = options_.recipe;
  Json identity = {{"workload", workload_.name()},
                   {"preset", workload_.preset()},
                   {"seed", options_.seed},
                   {"batch", recipe.batch},
                   {"horizon", recipe.horizon},
                   {"dtype", to_string(options_.dtype)},
                   {"items_per_sample", workload_.items_per_sample()}};
  // Null as in checkpoints from before there were others.
  const std::string method = text_of(options_.parallel.method);
  identity["exchange"] = method.empty() ? Json(nullptr) : Json(method);
  if (!ranks_.part().is_whole())
    identity["split"] = {options_.split.tensor, options_.split.pipeline, ranks_.part().shards,
                         options_.split.sequence_parallel ? 1 : 0};
  if (options_.split.chunks > 1) identity["chunks"] = options_.split.chunks;
  if (options_.split.context > 1) identity["context"] = options_.split.context;
  if (options_.split.expert > 1) identity["ep"] = options_.split.expert;
  if (workload_.repeats()) identity["data"] = workload_.data();
  if (options_.base != nullptr) identity["base"] = hash_text(options_.base->hash);
  checkpoints_ =
      std::make_unique<Checkpoints>(*parallel_, identity, CheckpointOptions{options_.checkpoint});
  if (const SparseTables* tables = workload_.tables())
    for (const TableRows& rows : tables->rows()) {
      const std::string name =
          fmt::format("table/{}.{}", rows.shard().table, rows.shard().first_row);
      checkpoints_->add({{name + "/values", rows.values()}, {name + "/state", rows.state()}});
    }
  const auto loaded = options_.resume ? checkpoints_->load() : std::nullopt;
  if (!loaded) return {};
  const RunProgress progress = run_progress_from_json(loaded->notes);
  run_.first_step = done_ = averaged_ = loaded->step;
  run_.curve = progress.curve;
  run_.converged =
      options_.steps == 0 && !run_.curve.empty() && meets(run_.curve.back().gap, recipe.target);
  replica_->loss_scale().resume(progress.loss_scale);
  elapsed_ = progress.elapsed;
  return progress.norms;
}

void Trainer::save() {
  const Seconds begin = steady_now();
  const RunProgress progress{begin - begin_, run_.curve, checks_->norms(),
                             replica_->loss_scale().state()};
  const Checkpoints::Done saved = checkpoints_->save(to_json(progress));
  run_.checkpoints.push_back({saved.step, saved.seconds.value, saved.bytes.value});
  breakdown_.add(RunPhase::checkpoint, steady_now() - begin);
}

BatchSplit split_batch(const TrainerOptions& options, int ranks) {
  const Recipe& recipe = options.recipe;
  const ModelSplit& split = options.split;
  const int copies = copies_of_model(split, ranks);
  if (!split.divides_model())
    return split_batch(recipe.batch, copies, options.lanes, options.cores, recipe.micro_batch);
  if (options.lanes > 1)
    throw Error(ErrorKind::input,
                fmt::format("{} lanes, but a part of a model trains in one", options.lanes),
                "remove lanes, or remove tp, cp, pp, ep and zero above 1");
  return split_batch(recipe.batch, copies, 1, 1, recipe.micro_batch);
}

Recipe for_pipeline(Recipe recipe, const ModelSplit& split, int ranks) {
  constexpr std::int64_t kPerStage = 4;
  if (split.pipeline == 1) return recipe;
  const std::int64_t samples = recipe.batch / copies_of_model(split, ranks);
  const std::int64_t most = std::max<std::int64_t>(1, samples / (kPerStage * split.pipeline));
  if (recipe.micro_batch == 0 || recipe.micro_batch > most) recipe.micro_batch = most;
  if (split.chunks == 1) return recipe;
  // Chunks need a multiple of the stages.
  for (std::int64_t size = recipe.micro_batch; size > 0; --size)
    if (samples % (size * split.pipeline) == 0) {
      recipe.micro_batch = size;
      break;
    }
  return recipe;
}

Recipe with_batch(Recipe recipe, std::int64_t batch) {
  for (std::int64_t* steps : {&recipe.horizon, &recipe.schedule.horizon, &recipe.schedule.warmup,
                              &recipe.evaluation_every})
    *steps = in_steps(*steps, recipe.batch, batch);
  recipe.batch = batch;
  return recipe;
}

Trainer::Trainer(Workload& workload, const TrainerOptions& options, const KernelFactory& kernels,
                 Group& group)
    : started_(options.begun.value > 0.0 ? options.begun : steady_now()),
      workload_(workload),
      options_(options),
      group_(group),
      ranks_(group, options.split),
      kernels_(with_exchanges(kernels, ranks_)),
      split_(split_batch(options, group.size())),
      model_(
          workload.model_part(ranks_.part(), split_.micro_batch, options.dtype, options.recompute)),
      plan_(make_plan(*model_.graph, true, weight_gradients(options.split.schedule))),
      last_step_(options.steps > 0 ? options.steps : options.recipe.horizon) {
  check_exchange(options, workload, group.size());
  prepare_together(workload, group);
  auto optimizer = workload.optimizer();
  optimizer_name_ = optimizer->name();
  ReplicaOptions replica{split_.lanes, split_.micro_batches, options.seed};
  check_messages();
  if (ranks_.links() != nullptr)
    replica.stage = {ranks_.links(),
                     stage_passes(options.split.schedule, ranks_.part(), split_.micro_batches),
                     stage_chunks(plan_, model_)};
  if (!ranks_.part().is_whole()) {
    options_.parallel.model = &ranks_;
    options_.parallel.overlap = false;  // passes communicate, in the thread that may
  }
  replica_ =
      std::make_unique<Replica>(plan_, model_.losses, kernels_, std::move(optimizer), replica);
  if (options.base != nullptr) set_base_parameters(*options.base, *replica_);
  parallel_ = std::make_unique<DataParallel>(*replica_, group, options_.parallel);
  if (SparseTables* tables = workload.tables()) join_tables(*tables, kernels);
  if (Rollouts* rollouts = workload.rollouts())
    rollouts->join(
        *replica_, replica_->weights(), model_, split_.micro_batch, kernels,
        options.base != nullptr ? Rollouts::Rewards::verifier : Rollouts::Rewards::random);
  evaluator_ =
      std::make_unique<Evaluator>(workload, model_, split_.micro_batch, *replica_, kernels_);
  run_.steps.reserve(static_cast<std::size_t>(last_step_));
  const auto resumed = options.checkpoint.empty() ? std::nullopt : prepare_checkpoints();
  // One answer that is rarely right can have a gradient a hundred times the usual.
  const auto norms =
      workload.rollouts() != nullptr ? RunChecks::Norms::varied : RunChecks::Norms::judged;
  if (options.profile) {
    require(replica_->kernels().memory->on_host(), "profile", "a device trains, not a host");
    profiler_.emplace(plan_, split_.lanes, split_.micro_batches);
  }
  checks_ = std::make_unique<RunChecks>(DataAudit(workload, model_, *replica_, *evaluator_, split_),
                                        *replica_, options.check_every, norms);
  if (resumed) checks_->resume(*resumed);
}

/// Of the same size on all ranks of a kind: every rank throws or none.
void Trainer::check_messages() const {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const auto check = [&](std::int64_t elements, const char* between) {
    const std::int64_t bytes = elements * static_cast<std::int64_t>(size_of(options_.dtype));
    if (bytes > kMost)
      throw Error(ErrorKind::input,
                  fmt::format("a message between {} has {} bytes, more than MPI's {}", between,
                              bytes, kMost),
                  "use a smaller micro_batch");
  };
  for (const Node& node : model_.graph->nodes())
    check(node.op->largest_message(), "ranks that divide a model");
  const StageTensors& stage = model_.stage;
  if (const Var message = stage.sent ? stage.sent : stage.received)
    check(message.shape().elements(), "stages");
}

void Trainer::join_tables(SparseTables& tables, const KernelFactory& kernels) {
  if (replica_->kernels().memory->on_host()) return tables.join(group_, replica_->pool(), kernels);
  require(options_.host_kernels != nullptr, "trainer", "embedding tables need host kernels");
  host_threads_ = std::make_unique<WorkerPool>(options_.host_threads > 0 ? options_.host_threads
                                                                         : usual_host_threads());
  tables.join(group_, *host_threads_, options_.host_kernels);
}

TrainingRun Trainer::run(RunObserver& observer) {
  group_.barrier();
  const Seconds begin = steady_now();
  begin_ = begin - elapsed_;
  run_.initialisation = begin - started_;
  observer.run_start();
  while (is_training()) {
    observer.block_start(samples_done());
    train_block(observer);
    if (checks_->due(done_) || done_ == last_step_) run_checks();
    observer.block_stop(samples_done());
    if (options_.steps == 0) evaluate(observer);
    if (save_is_due()) save();  // includes this evaluation
  }
  run_.wall = steady_now() - begin;
  observer.run_stop(samples_done(), run_.converged);
  finish();
  return std::move(run_);
}

bool Trainer::block_ends() const {
  const std::int64_t every = options_.recipe.evaluation_every;
  return done_ == last_step_ || (every > 0 && done_ % every == 0);
}

void Trainer::train_block(RunObserver& observer) {
  train_step(observer);
  while (!block_ends()) {
    if (save_is_due()) save();
    train_step(observer);
  }
}

void Trainer::train_step(RunObserver& observer) {
  observer.step_start();
  const double rate = options_.recipe.schedule.rate(done_);
  const Seconds arrived = steady_now();
  checks_->before_step(done_);
  const Seconds begin = steady_now();
  breakdown_.add(RunPhase::checks, begin - arrived);
  SparseTables* tables = workload_.tables();
  Rollouts* const rollouts = workload_.rollouts();
  const bool compares = rollouts != nullptr && checks_->due(done_ + 1) &&
                        rollouts->comparisons() <= checks_->rounds();
  const bool profiled = profiler_ && !compares;  // such a step does more than others do
  if (profiled) replica_->record(profiler_->begin_step(done_));
  if (tables != nullptr) {
    const TimelineScope recorded(replica_->timeline(), Activity::tables);
    tables->gather(Split::train, split_.first(done_, ranks_.copy(), 0), split_.of_rank());
  }
  const Seconds gathered = steady_now();
  Seconds played, compared;
  if (rollouts != nullptr) {
    {
      const TimelineScope recorded(replica_->timeline(), Activity::rollouts);
      rollouts->play(split_.first(done_, ranks_.copy(), 0), split_.of_rank());
    }
    played = steady_now() - gathered;
    if (compares) rollouts->compare(evaluator_->lane(0));
    compared = steady_now() - gathered - played;
  }
  const auto begin_of = [&](int number) { return split_.first(done_, ranks_.copy(), number); };
  const auto fill = [&](const Lane& lane, int number) {
    workload_.read(Split::train, begin_of(number), model_, lane);
  };
  std::function<void(const Lane&, int)> after_backward;
  if (tables != nullptr)
    after_backward = [&](const Lane& lane, int number) {
      tables->collect(lane, model_, begin_of(number));
    };
  StepOutcome step = parallel_->step(fill, rate, options_.recipe.clip, after_backward);
  const Seconds stepped = steady_now();
  if (tables != nullptr && !step.skipped) {
    const TimelineScope recorded(replica_->timeline(), Activity::tables);
    tables->update(rate, step.gradient_scale);
  }
  const Seconds end = steady_now();
  if (profiled) {
    replica_->record(nullptr);
    profiler_->end_step(begin, end);
  }
  observer.step_stop();
  step.data += gathered - begin;
  step.rollout = played;
  step.optimizer += end - stepped;
  step.total = end - begin - compared;
  breakdown_.add(RunPhase::checks, compared);
  record_step(step, rate);
  if (parallel_->averages_after(done_, last_step_)) average_parameters(step);
  observer.step_recorded(run_, done_ - 1, step);
}

void Trainer::record_step(const StepOutcome& step, double rate) {
  breakdown_.add(RunPhase::data, step.data);
  breakdown_.add(RunPhase::rollout, step.rollout);
  breakdown_.add(RunPhase::transfer, step.transfer);
  breakdown_.add(RunPhase::forward, step.forward);
  breakdown_.add(RunPhase::backward, step.backward);
  breakdown_.add(RunPhase::tensor_exchange, step.tensor_exchange);
  breakdown_.add(RunPhase::context_exchange, step.context_exchange);
  breakdown_.add(RunPhase::expert_exchange, step.expert_exchange);
  breakdown_.add(RunPhase::pipeline_wait, step.pipeline_wait);
  breakdown_.add(RunPhase::exchange_exposed, step.exchange_exposed);
  breakdown_.add(RunPhase::exchange_hidden, step.exchange_hidden);
  breakdown_.add(RunPhase::compression, step.compression);
  breakdown_.add(RunPhase::optimizer, step.optimizer);
  breakdown_.add(RunPhase::offload_wait, step.offload_wait);
  const Seconds named = step.data + step.rollout + step.transfer + step.forward + step.backward +
                        step.tensor_exchange + step.context_exchange + step.expert_exchange +
                        step.pipeline_wait + step.exchange_exposed + step.compression +
                        step.optimizer + step.offload_wait;
  breakdown_.add(RunPhase::lane_wait, step.total - named);
  run_.processor.data += step.data_processor;
  run_.processor.forward += step.forward_processor;
  run_.processor.backward += step.backward_processor;
  run_.processor.update += step.update_processor;
  spread_ += step.straggler_spread;
  const Seconds begin = steady_now();
  if (!step.skipped)
    checks_->after_step(done_, step.gradient_norm, options_.recipe.schedule.rate(done_));
  breakdown_.add(RunPhase::checks, steady_now() - begin);
  run_.steps.push_back({step.loss, step.gradient_norm, rate, step.total.value});
  ++done_;
}

/// Ends a period of local steps, whose losses and gradient norms become the means of the ranks'.
void Trainer::average_parameters(StepOutcome& step) {
  const Seconds before = step.total;
  parallel_->average_parameters(step);
  const std::span period(run_.steps.end() - (done_ - averaged_), run_.steps.end());
  averaged_ = done_;
  std::vector<double> sums;
  for (const TrainedStep& one : period) sums.insert(sums.end(), {one.loss, one.gradient_norm});
  group_.sum(sums);
  for (std::size_t i = 0; i < period.size(); ++i) {
    period[i].loss = sums[2 * i] / group_.size();
    period[i].gradient_norm = sums[2 * i + 1] / group_.size();
  }
  step.loss = period.back().loss;
  step.gradient_norm = period.back().gradient_norm;
  const Seconds took = step.total - before;
  period.back().seconds += took.value;
  breakdown_.add(RunPhase::exchange_exposed, took);
  spread_ += step.straggler_spread;
}

void Trainer::run_checks() {
  const Seconds begin = steady_now();
  checks_->run(done_, ranks_);
  breakdown_.add(RunPhase::checks, steady_now() - begin);
}

void Trainer::evaluate(RunObserver& observer) {
  const Seconds begin = steady_now();
  observer.evaluation_start(samples_done());
  const Quality quality = evaluator_->evaluate(options_.recipe.evaluation_samples, ranks_);
  const std::int64_t evaluated = run_.curve.empty() ? 0 : run_.curve.back().step;
  const std::int64_t since = std::max(evaluated, run_.first_step);
  double loss = 0.0;
  for (std::int64_t i = since; i < done_; ++i)
    loss += run_.steps[static_cast<std::size_t>(i - run_.first_step)].loss /
            static_cast<double>(done_ - since);
  const Seconds end = steady_now();
  run_.curve.push_back({done_, static_cast<double>(samples_done()), (end - begin_).value,
                        quality.gap, quality.native, quality.floor, loss});
  run_.parts = quality.parts;
  run_.converged = meets(quality.gap, options_.recipe.target);
  observer.evaluation_stop(samples_done(), quality);
  breakdown_.add(RunPhase::evaluation, steady_now() - begin);
}

}  // namespace bench::training
