#include "training/trainer/final_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "training/tables/sparse_tables.h"
#include "training/trainer/run_checks.h"
#include "training/trainer/whole_model.h"
#include "training/workloads/rollouts.h"

namespace bench::training {
namespace {

/// With local steps ranks have their own gradient norms: a fault of one is a fault of the run.
void agree_on(std::vector<TrainingCheck>& checks, Group& group) {
  for (TrainingCheck& check : checks) {
    const std::string found = agreed(group, check.held ? "" : check.text);
    if (found.empty()) continue;
    check.held = false;
    check.text = found;
  }
}

}  // namespace

void FinalChecks::add_to(TrainingRun& run) const {
  const bool local = of_.parallel.local() != nullptr;
  if (local) agree_on(run.checks, of_.ranks.all());
  if (of_.workload.knows_floor() && !run.curve.empty()) run.checks.push_back(floor_check(run));
  if (of_.workload.tables() != nullptr) run.checks.push_back(tables_check());
  if (of_.workload.rollouts() != nullptr) run.checks.push_back(rollouts_check());
  // No training follows. Use half of the last scale: an overflow would only skip a training step
  // and must not fail a check of gradients.
  LossScale& scale = of_.parallel.replica().loss_scale();
  scale.resume({std::max(scale.value() / 2.0, 1.0)});
  if (of_.ranks.replicas().size() > 1 || of_.ranks.part().expert_ranks > 1)
    run.checks.push_back(local ? average_check() : exchange_check());
  if (!of_.ranks.part().is_whole()) check_divided_model(run);
}

/// A model that is better than the law of the data has seen what it should predict. Samples are
/// finite, so a right model can be better by chance, but not by a hundredth of the floor. Expected
/// AUCs, into which labels do not enter, say nothing about that: their log loss does.
TrainingCheck FinalChecks::floor_check(const TrainingRun& run) const {
  constexpr double kChance = 0.01;
  const CurvePoint& least = *std::ranges::min_element(run.curve, {}, &CurvePoint::gap);
  TrainingCheck check{"above_floor", least.gap >= -kChance * std::abs(least.floor),
                      fmt::format("the smallest gap is {:.4g}, at step {}; the floor is {:.4g}",
                                  least.gap, least.step, least.floor)};
  const auto part = [&](const std::string& name) {
    const auto found = std::ranges::find(run.parts, name, &std::pair<std::string, double>::first);
    return found == run.parts.end() ? std::nan("") : found->second;
  };
  const double loss = part("log_loss"), lacks = part("log_loss_gap");
  if (!(lacks < -kChance * (loss - lacks))) return check;
  check.text = fmt::format("the log loss is {:.4g}, below {:.4g}, that of the true probabilities{}",
                           loss, loss - lacks, check.held ? "" : "; " + check.text);
  check.held = false;
  return check;
}

TrainingCheck FinalChecks::tables_check() const {
  const TableWatch& watch = of_.workload.tables()->watch();
  return check_of("tables_move", agreed(of_.ranks.all(), watch.found()),
                  fmt::format("{} updates changed every table", watch.updates()));
}

TrainingCheck FinalChecks::rollouts_check() const {
  const Rollouts& rollouts = *of_.workload.rollouts();
  return check_of(
      "rollouts", agreed(of_.ranks.all(), rollouts.mismatch()),
      fmt::format("{} rollouts had the probabilities of the forward pass", rollouts.comparisons()));
}

/// Checks that the exchange neither loses nor corrupts gradients of the model and its tables.
/// Untimed, on the samples of the step that would come next.
TrainingCheck FinalChecks::exchange_check() const {
  std::vector<double> distances(
      static_cast<std::size_t>(of_.split.lanes));  // of table gradients, by lane
  SparseTables* tables = of_.workload.tables();
  Rollouts* rollouts = of_.workload.rollouts();
  if (rollouts != nullptr)
    rollouts->share(of_.split.first(of_.steps_done, of_.ranks.copy(), 0), of_.split.of_rank(),
                    of_.ranks.all());
  const auto pass_of = [&](int copy, bool exchanged) {
    if (rollouts != nullptr) rollouts->use(copy);
    GradientPass pass;
    pass.fill = [this, copy](const Lane& lane, int number) {
      of_.workload.read(Split::train, of_.split.first(of_.steps_done, copy, number), of_.model,
                        lane);
    };
    if (tables == nullptr) return pass;
    if (!exchanged && copy == 0) tables->exchange_gradients();  // of the exchanged pass
    tables->gather(Split::train, of_.split.first(of_.steps_done, copy, 0), of_.split.of_rank());
    pass.after_backward = [&, tables, copy, exchanged](const Lane& lane, int number) {
      const std::uint64_t first = of_.split.first(of_.steps_done, copy, number);
      if (exchanged) return tables->collect(lane, of_.model, first);
      double& worst = distances[static_cast<std::size_t>(number / of_.split.micro_batches)];
      const View gradient = tables->gradient_of(lane, of_.model);
      worst = std::max(worst, tables->gradient_distance(gradient, copy, first));
    };
    return pass;
  };
  GradientAgreement agreement = of_.parallel.compare_gradient(
      pass_of(of_.ranks.copy(), true), [&](int copy) { return pass_of(copy, false); });
  of_.ranks.all().max(distances);
  agreement.distance = std::max(agreement.distance, *std::ranges::max_element(distances));
  if (const std::string method = text_of(of_.options.parallel.method); !method.empty())
    return {
        "error_feedback", agreement.held(),
        fmt::format("exchanged sum plus new residuals differs by {:.2g} (relative) from gradients "
                    "plus old residuals ({} ranks, {}{})",
                    agreement.distance, of_.ranks.copies(), method,
                    tables != nullptr ? ", embedding tables exchanged in full" : "")};
  return {"gradient_exchange", agreement.held(),
          fmt::format(
              "the gradient of {} ranks{} differs by {:.2g} (relative) from that computed on all "
              "samples without the exchange",
              of_.ranks.data().size(), tables != nullptr ? ", embedding tables included," : "",
              agreement.distance)};
}

/// Checks that the average of local steps has the parameters of all ranks, which a gradient of the
/// samples of the next step has moved apart. Untimed.
TrainingCheck FinalChecks::average_check() const {
  Rollouts* rollouts = of_.workload.rollouts();
  if (rollouts != nullptr) {
    rollouts->share(of_.split.first(of_.steps_done, of_.ranks.copy(), 0), of_.split.of_rank(),
                    of_.ranks.all());
    rollouts->use(of_.ranks.copy());
  }
  const double distance = of_.parallel.local()->compare([this](const Lane& lane, int number) {
    of_.workload.read(Split::train, of_.split.first(of_.steps_done, of_.ranks.copy(), number),
                      of_.model, lane);
  });
  return {"local_average", distance <= GradientAgreement::kTolerance,
          fmt::format("the update of the common parameters differs by {:.2g} (relative) from the "
                      "one that each rank computes from the parameters of {} ranks",
                      distance, of_.ranks.copies())};
}

/// Untimed, on the samples of the step that would come next.
void FinalChecks::check_divided_model(TrainingRun& run) const {
  const auto fill = [&](const Model& model, const Lane& lane, int copy, int number) {
    of_.workload.read(Split::train, of_.split.first(of_.steps_done, copy, number), model, lane);
  };
  const DividedTraining training{of_.workload,
                                 of_.ranks,
                                 of_.parallel.replica(),
                                 of_.model,
                                 of_.split.micro_batch,
                                 of_.options.recompute,
                                 of_.kernels,
                                 fill};
  const double needed = bytes_to_compare_with_whole(training);
  const double allowed = least(of_.ranks.all(), of_.options.check_bytes);
  if (needed > allowed) {
    run.not_compared = fmt::format("the whole model needs {} on each rank, and {} is left",
                                   format(Bytes{needed}), format(Bytes{allowed}));
    return;
  }
  const WholeModelComparison found = compare_with_whole(training);
  run.checks.push_back({"divided_model", found.held(), found.text()});
}

}  // namespace bench::training
