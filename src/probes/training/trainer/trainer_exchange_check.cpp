// Checks that the exchange neither loses nor corrupts gradients of the model and its tables.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "probes/training/tables/sparse_tables.h"
#include "probes/training/trainer/trainer.h"

namespace bench::training {

/// Untimed, on the samples of the step that would come next.
TrainingCheck Trainer::exchange_check() {
  std::vector<double> distances(static_cast<std::size_t>(split_.lanes));  // of table gradients, by lane
  SparseTables* tables = workload_.tables();
  const auto pass_of = [&](int rank, bool exchanged) {
    GradientPass pass;
    pass.fill = [this, rank](const Lane& lane, int number) {
      workload_.read(Split::train, split_.first(done_, rank, number), model_, lane);
    };
    if (tables == nullptr) return pass;
    if (!exchanged && rank == 0) tables->exchange_gradients();  // of the exchanged pass
    tables->gather(Split::train, split_.first(done_, rank, 0), split_.of_rank());
    pass.after_backward = [&, tables, rank, exchanged](const Lane& lane, int number) {
      const std::uint64_t first = split_.first(done_, rank, number);
      if (exchanged) return tables->collect(lane, model_, first);
      double& worst = distances[static_cast<std::size_t>(number / split_.micro_batches)];
      const View gradient = tables->gradient_of(lane, model_);
      worst = std::max(worst, tables->gradient_distance(gradient, rank, first));
    };
    return pass;
  };
  // No training follows. Use half of the last scale: an overflow would only skip a training step and
  // must not fail this check.
  const double scale = std::max(replica_->loss_scale().value() / 2.0, 1.0);
  replica_->loss_scale().resume({scale});
  GradientAgreement agreement = parallel_->compare_gradient(
      pass_of(group_.rank(), true), [&](int rank) { return pass_of(rank, false); });
  group_.max(distances);
  agreement.distance = std::max(agreement.distance, *std::ranges::max_element(distances));
  return {"gradient_exchange", agreement.held(),
          fmt::format("the gradient of {} ranks{} differs by {:.2g} (relative) from the gradient that one "
                      "rank computes on all samples",
                      group_.size(), tables != nullptr ? ", embedding tables included," : "",
                      agreement.distance)};
}

}  // namespace bench::training
