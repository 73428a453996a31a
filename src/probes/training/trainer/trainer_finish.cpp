// Collects the results of a run after its clock has stopped.
#include <fmt/format.h>

#include "probes/training/tables/sparse_tables.h"
#include "probes/training/trainer/trainer.h"

namespace bench::training {
namespace {

double straggler_spread(const std::vector<PhaseTime>& breakdown, Seconds spread) {
  Seconds computed;
  for (const PhaseTime& time : breakdown)
    if (time.phase == RunPhase::forward || time.phase == RunPhase::backward) computed += time.mean;
  return computed.value > 0.0 ? spread / computed : 0.0;
}

}  // namespace

void Trainer::finish() {
  run_.breakdown = breakdown_.over_ranks(group_, run_.wall);
  run_.straggler_spread = straggler_spread(run_.breakdown, spread_);
  run_.memory = memory();
  if (replica_->loss_scale().dynamic()) run_.loss_scale = replica_->loss_scale().state();
  run_.checks = checks_->finish(group_);
  if (workload_.tables() != nullptr) run_.checks.push_back(tables_check());
  if (group_.size() > 1) run_.checks.push_back(exchange_check());
  std::vector<double> seconds;
  for (const TrainedStep& step : run_.steps) seconds.push_back(step.seconds);
  group_.max(seconds);
  for (std::size_t i = 0; i < seconds.size(); ++i) run_.steps[i].seconds = seconds[i];
  if (!run_.converged) return;
  run_.samples_to_target = run_.curve.back().samples;
  run_.samples_to_target_interpolated = samples_to_target(run_.curve, options_.recipe.target);
}

TrainingCheck Trainer::tables_check() {
  const TableWatch& watch = workload_.tables()->watch();
  return check_of("tables_move", agreed(group_, watch.found()),
                  fmt::format("{} updates changed every table", watch.updates()));
}

std::vector<MemoryUse> Trainer::memory() const {
  std::vector<MemoryUse> uses;
  for (std::size_t i = 0; i < kMemoryLabels; ++i) {
    const auto label = static_cast<Label>(i);
    uses.push_back({std::string(to_string(label)), replica_->memory_bytes(label)});
  }
  uses.push_back({"optimizer", replica_->optimizer_bytes()});
  uses.push_back({"exchange", parallel_->exchange_bytes()});
  uses.push_back({"evaluation", evaluator_->memory_bytes()});
  if (const SparseTables* tables = workload_.tables()) {
    uses.push_back({"tables", tables->table_bytes()});
    uses.push_back({"table_buffers", tables->buffer_bytes()});
  }
  return uses;
}

std::int64_t Trainer::parameter_count() const {
  const SparseTables* tables = workload_.tables();
  return model_.graph->parameter_count() + (tables != nullptr ? tables->parameter_count() : 0);
}

int Trainer::table_threads() const {
  if (workload_.tables() == nullptr) return 0;
  return host_threads_ ? host_threads_->size() : split_.lanes;
}

}  // namespace bench::training
