// The expected AUC of a model's predictions of actions, next to that of the best predictions, on
// the same histories.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "training/sources/history_source.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// What is known of the evaluation histories, read and filtered once.
class KnownHistories {
 public:
  struct Known {
    std::vector<std::int32_t> actions = {};
    HistoryTruth truth = {};
  };
  const Known& of(const HistorySource& source, std::uint64_t index);

 private:
  std::unordered_map<std::uint64_t, Known> known_ = {};
};

/// Expected AUCs of predictions that do not depend on the model, of so many events: computed once,
/// because sorting is slow.
struct ReferenceAucs {
  std::size_t events = 0;
  double best = 0.0, without_history = 0.0, constant_taste = 0.0;
};

/// Over all events of the histories: the gap of the model's expected AUC to that of the true
/// probabilities given everything before. Parts:
///   log_loss            of the actions, nats
///   log_loss_gap        log_loss minus that of the true probabilities; far below 0 if the actions
///                       leak into the inputs
///   calibration         mean predicted probability over the mean true one
///   late_gap            the gap over events from the 17th on
///   no_history_gap      the gap of the best predictions from item and user alone
///   constant_taste_gap  that of a filter that takes the taste for constant, to which the order of
///                       events means nothing
class HstuEvaluation final : public Evaluation {
 public:
  /// All must outlive it. The model has `events` rows of a sample.
  HstuEvaluation(const HistorySource& source, KnownHistories& known, ReferenceAucs& references,
                 const Model& model)
      : source_(source),
        known_(known),
        references_(references),
        logits_(model.outputs[0]),
        events_(source.shape().events) {}

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override;
  Quality finish(Group& group) override;

 private:
  /// One number per event.
  enum Column : std::size_t { kScore, kTruth, kNoHistory, kConstant, kAction, kPosition, kColumns };
  using Columns = std::array<std::vector<float>, kColumns>;
  Columns gathered(Group& group) const;
  void refer_to(const Columns& all, const std::vector<double>& probabilities);

  const HistorySource& source_;
  KnownHistories& known_;
  ReferenceAucs& references_;
  Var logits_;
  std::int64_t events_;
  Columns mine_ = {};
};

}  // namespace bench::training
