// All correctness checks of a run, repeated at an interval of steps; the first fault is kept.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "training/optimizers/gradient_outliers.h"
#include "training/parallel/model_ranks.h"
#include "training/parallel/parameter_hashes.h"
#include "training/trainer/batch_split.h"
#include "training/trainer/evaluator.h"
#include "training/trainer/moved_parameters.h"
#include "training/trainer/rate_watch.h"

namespace bench::training {

/// Checks that ranks train on the right data. For one step, the lanes' inputs and the lookup IDs
/// are compared with the same samples read again; if the source never repeats samples, none may
/// have been seen under another number; and the next rank regenerates each rank's part and compares
/// checksums.
class DataAudit {
 public:
  /// All arguments must outlive this object.
  DataAudit(Workload& workload, const Model& model, const Replica& replica,
            const Evaluator& evaluator, const BatchSplit& split)
      : workload_(workload),
        model_(model),
        replica_(replica),
        evaluator_(evaluator),
        split_(split) {}

  /// Call on every rank right after step `step`. Returns the fault, or "".
  std::string check(std::int64_t step, const ModelRanks& ranks);

 private:
  std::string check_own_data(std::int64_t step, int rank);
  std::string compare_inputs(std::int64_t step, int rank) const;
  std::string find_repeated_sample(std::int64_t step, int rank);
  std::string compare_next_rank(std::int64_t step, const ModelRanks& ranks) const;

  Workload& workload_;
  const Model& model_;
  const Replica& replica_;
  const Evaluator& evaluator_;
  const BatchSplit& split_;
  std::unordered_map<std::uint64_t, std::uint64_t> seen_ = {};  // sample's number by its contents
};

/// The result of a correctness check. The target alone misses most faults: a model still learns
/// with a tenth of its parameters frozen, with occasional corrupt gradients, or with occasional
/// wrong inputs.
struct TrainingCheck {
  std::string check;  // "parameters_move"
  bool held = true;
  std::string text = {};  // what was compared, or the fault found
};

/// Holds if `found` is empty; the text is then `otherwise`, which states what was compared.
inline TrainingCheck check_of(std::string name, const std::string& found, std::string otherwise) {
  return {std::move(name), found.empty(), found.empty() ? std::move(otherwise) : found};
}

class RunChecks {
 public:
  enum class Norms { judged, varied };

  /// `every`: minimum number of steps between checks of data and replicas. All parameters must have
  /// changed by the first check. `norms`: whether gradient norms of right steps are alike; if not,
  /// outliers are no fault.
  RunChecks(DataAudit audit, const Replica& replica, std::int64_t every, Norms norms);

  void before_step(std::int64_t step) { rates_.before_step(step); }
  /// `rate`: by the schedule.
  void after_step(std::int64_t step, double gradient_norm, double rate) {
    if (norms_ == Norms::judged) outliers_.observe(step, gradient_norm);
    rates_.after_step(step, rate);
  }
  bool due(std::int64_t steps_done) const {
    return rounds_ == 0 || steps_done >= last_checked_step_ + every_;
  }
  std::int64_t rounds() const { return rounds_; }
  /// Call on every rank after `steps_done` steps, before any other samples are read.
  void run(std::int64_t steps_done, const ModelRanks& ranks);
  /// Gradient norm averages, for checkpoints.
  GradientOutliers::Averages norms() const { return outliers_.averages(); }
  void resume(const GradientOutliers::Averages& norms) { outliers_.resume(norms); }
  /// Call once, at the end of the run.
  std::vector<TrainingCheck> finish(const ModelRanks& ranks) const;

 private:
  void compare_replicas(std::int64_t steps_done, const ModelRanks& ranks);
  void compare_frozen(std::int64_t steps_done, Group& group);
  TrainingCheck outlier_check() const;

  DataAudit audit_;
  const Replica& replica_;
  MovedParameters moved_;
  std::vector<TensorHash> frozen_;  // of parameters that must not change
  GradientOutliers outliers_;
  RateWatch rates_;
  std::int64_t every_;
  Norms norms_;
  std::int64_t rounds_ = 0;
  std::int64_t last_checked_step_ = 0;
  std::int64_t rates_measured_ = 0;         // by the rank with the most
  std::int64_t movement_checked_step_ = 0;  // 0: not checked yet
  std::string unchanged_ = {}, data_ = {}, replicas_ = {}, frozen_found_ = {}, rate_found_ = {};
};

}  // namespace bench::training
