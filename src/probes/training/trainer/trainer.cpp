#include "probes/training/trainer/trainer.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "probes/facts/allowed_cpus.h"
#include "probes/host_clock.h"
#include "probes/training/tables/sparse_tables.h"

namespace bench::training {
namespace {

std::int64_t in_steps(std::int64_t steps, std::int64_t batch, std::int64_t other_batch) {
  const double scaled =
      static_cast<double>(steps) * static_cast<double>(batch) / static_cast<double>(other_batch);
  return steps == 0 ? 0 : std::max<std::int64_t>(1, std::llround(scaled));
}

int usual_host_threads() {
  constexpr std::size_t kMost = 16;
  return static_cast<int>(std::min(allowed_cpus().size(), kMost));
}

}  // namespace

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
      split_(split_batch(options.recipe.batch, group.size(), options.lanes, options.cores,
                         options.recipe.micro_batch)),
      model_(workload.model(split_.micro_batch, options.dtype, options.recompute)),
      plan_(make_plan(*model_.graph)),
      last_step_(options.steps > 0 ? options.steps : options.recipe.horizon) {
  auto optimizer = workload.optimizer();
  optimizer_name_ = optimizer->name();
  replica_ =
      std::make_unique<Replica>(plan_, model_.losses, kernels, std::move(optimizer),
                                ReplicaOptions{split_.lanes, split_.micro_batches, options.seed});
  parallel_ = std::make_unique<DataParallel>(*replica_, group, options.parallel);
  if (SparseTables* tables = workload.tables()) join_tables(*tables, kernels);
  evaluator_ =
      std::make_unique<Evaluator>(workload, model_, split_.micro_batch, *replica_, kernels);
  run_.steps.reserve(static_cast<std::size_t>(last_step_));
  const auto resumed = options.checkpoint.empty() ? std::nullopt : prepare_checkpoints();
  checks_ = std::make_unique<RunChecks>(DataAudit(workload, model_, *replica_, *evaluator_, split_),
                                        *replica_, options.check_every);
  if (resumed) checks_->resume(*resumed);
}

void Trainer::join_tables(SparseTables& tables, const KernelFactory& kernels) {
  if (replica_->kernels().memory->on_host()) return tables.join(group_, replica_->pool(), kernels);
  require(options_.host_kernels != nullptr, "trainer",
          "embedding tables need host kernels");
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
    train_block();
    if (checks_->due(done_) || done_ == last_step_) run_checks();
    observer.block_stop(samples_done());
    if (options_.steps == 0) evaluate(observer);
    if (save_is_due()) save();  // with what was just evaluated
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

void Trainer::train_block() {
  train_step();
  while (!block_ends()) {
    if (save_is_due()) save();
    train_step();
  }
}

void Trainer::train_step() {
  const double rate = options_.recipe.schedule.rate(done_);
  const Seconds begin = steady_now();
  SparseTables* tables = workload_.tables();
  if (tables != nullptr)
    tables->gather(Split::train, split_.first(done_, group_.rank(), 0), split_.of_rank());
  const Seconds gathered = steady_now();
  const auto begin_of = [&](int number) { return split_.first(done_, group_.rank(), number); };
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
  if (tables != nullptr && !step.skipped) tables->update(rate, step.gradient_scale);
  const Seconds end = steady_now();
  step.data += gathered - begin;
  step.optimizer += end - stepped;
  step.total = end - begin;
  record_step(step, rate);
}

void Trainer::record_step(const StepOutcome& step, double rate) {
  breakdown_.add(RunPhase::data, step.data);
  breakdown_.add(RunPhase::transfer, step.transfer);
  breakdown_.add(RunPhase::forward, step.forward);
  breakdown_.add(RunPhase::backward, step.backward);
  breakdown_.add(RunPhase::exchange_exposed, step.exchange_exposed);
  breakdown_.add(RunPhase::exchange_hidden, step.exchange_hidden);
  breakdown_.add(RunPhase::optimizer, step.optimizer);
  const Seconds named = step.data + step.transfer + step.forward + step.backward +
                        step.exchange_exposed + step.optimizer;
  breakdown_.add(RunPhase::lane_wait, step.total - named);
  spread_ += step.straggler_spread;
  if (!step.skipped) checks_->after_step(done_, step.gradient_norm);
  run_.steps.push_back({step.loss, step.gradient_norm, rate, step.total.value});
  ++done_;
}

void Trainer::run_checks() {
  const Seconds begin = steady_now();
  checks_->run(done_, group_);
  breakdown_.add(RunPhase::checks, steady_now() - begin);
}

void Trainer::evaluate(RunObserver& observer) {
  const Seconds begin = steady_now();
  observer.evaluation_start(samples_done());
  const Quality quality = evaluator_->evaluate(options_.recipe.evaluation_samples, group_);
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
