#include <fmt/format.h>

#include <optional>

#include "probes/host_clock.h"
#include "probes/training/tables/sparse_tables.h"
#include "probes/training/trainer/run_progress.h"
#include "probes/training/trainer/trainer.h"

namespace bench::training {

std::optional<GradientOutliers::Averages> Trainer::prepare_checkpoints() {
  const Recipe& recipe = options_.recipe;
  Json identity = {{"workload", workload_.name()},
                   {"preset", workload_.preset()},
                   {"seed", options_.seed},
                   {"batch", recipe.batch},
                   {"horizon", recipe.horizon},
                   {"dtype", to_string(options_.dtype)},
                   {"items_per_sample", workload_.items_per_sample()}};
  if (workload_.repeats()) identity["data"] = workload_.data();
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
  run_.first_step = done_ = loaded->step;
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

}  // namespace bench::training
