// How far a model's probabilities of classes are from the best ones, on the same neighbourhoods.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "training/sources/neighbourhood_source.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// What is known of the evaluation samples, computed once.
class KnownNeighbourhoods {
 public:
  struct Known {
    std::int32_t label = 0;
    NeighbourhoodTruth truth = {};
  };
  const Known& of(const NeighbourhoodSource& source, std::uint64_t index);

 private:
  std::unordered_map<std::uint64_t, Known> known_ = {};
};

/// Over all samples: the mean Kullback-Leibler divergence, in nats, of the model's probabilities q
/// from the best ones p, which is what q's expected cross entropy has above p's entropy: labels do
/// not enter. Parts:
///   log_loss       of the labels, nats
///   log_loss_gap   log_loss minus that of the best probabilities; far below 0 if labels leak into
///                  the inputs
///   accuracy       of the labels
///   best_accuracy  that of the best probabilities
///   accuracy_gap   in expectation by the best probabilities
///   one_hop_gap    the gap of the best probabilities from the paper and its neighbours alone
///   features_gap   from the paper's own features
///   alike_gap      as if all relations were equally strong
///   blind_gap      as if no node said whether it is reliable
class RgatEvaluation final : public Evaluation {
 public:
  /// All must outlive it.
  RgatEvaluation(const NeighbourhoodSource& source, KnownNeighbourhoods& known, const Model& model)
      : source_(source), known_(known), logits_(model.outputs[0]) {}

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override;
  Quality finish(Group& group) override;

 private:
  enum Sum : std::size_t {
    kSamples,
    kEntropy,
    kDivergence,
    kLogLoss,
    kBestLogLoss,
    kRight,
    kBestRight,
    kLacks,
    kOneHop,
    kFeatures,
    kAlike,
    kBlind,
    kSums
  };

  const NeighbourhoodSource& source_;
  KnownNeighbourhoods& known_;
  Var logits_;
  std::array<double, kSums> sums_ = {};
};

}  // namespace bench::training
