// Data parallelism: each rank of a group computes the gradient of its part of the batch, the parts
// are summed, and every rank makes the same update. The samples of a step are numbered
// step x batch ... ; rank r takes the r-th contiguous part of them, and its micro-batches are
// contiguous parts of that.
//
// Guarantees: reruns with the same numbers of ranks and lanes are bit-equal (for more than
// two ranks by SumOrder::ranks only), sharded or not, overlapped or not, in buckets of any size;
// all ranks have the same bits; N ranks of one lane each train in f32 as one rank of N lanes does,
// to the bit of every parameter. Other numbers of ranks and lanes differ by the rounding of sums;
// in bf16 and f16 ranks add up in f32 and round once, lanes round after each.
//
// Ranks may exchange less (ExchangeMethod): a compressed gradient, or parameters after several
// local steps. Reruns are bit-equal then too, and so are ranks: after each step, or each average. N
// ranks train as N ranks only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "devices/group.h"
#include "training/engine/replica.h"
#include "training/parallel/gradient_exchange.h"
#include "training/parallel/local_sgd.h"
#include "training/parallel/parameter_hashes.h"

namespace bench::training {

/// Loss and norm are those of the whole batch; with local steps, of this rank's part.
struct StepOutcome : Replica::Step {
  /// Of this rank, mean over its lanes; `transfer` of inputs to a device, `backward` including the
  /// sum of the lanes' gradients.
  Seconds data, transfer, forward, backward;
  Seconds data_processor, forward_processor, backward_processor;  // Replica::Times
  Seconds update_processor;  // of the first thread, in the update alone
  /// Where models are divided over ranks: sums over tensor ranks, messages of keys and values
  /// between ranks with other tokens, rows sent to experts and back, and waiting for other stages.
  Seconds tensor_exchange, context_exchange, expert_exchange, pipeline_wait;
  Seconds rollout;  // answers generated for this step; set by the trainer
  /// Exchange of gradients, loss and sharded parameters: the exposed part, and the part hidden
  /// behind the backward pass; waiting for late ranks included.
  Seconds exchange_exposed, exchange_hidden;
  Seconds compression;   // of exchanged gradients, and restoring them; part of no other time
  Seconds optimizer;     // norm, clipping, update
  Seconds offload_wait;  // for optimizer state in a file
  Seconds total;
  /// Over ranks: the longest time for forward and backward pass, minus the mean. With local steps
  /// that of all steps of a period, in its last one.
  Seconds straggler_spread;
};

/// The longest relative distance over ranks between two gradients, |a - b| / |b|.
struct GradientAgreement {
  double distance = 0.0;
  double tolerance = kTolerance;
  /// Hosts of one kind agree to the bit in f32 (SumOrder::ranks); others round differently.
  static constexpr double kTolerance = 1e-4;
  /// In 16 bits the exchange rounds the sum once, by 2^-9 of it in bf16; GPUs that chose other
  /// kernels for the same GEMMs round inside them too. Losses are detected from a hundredth of the
  /// gradient's length.
  static constexpr double kTolerance16 = 1e-2;
  bool held() const { return distance <= tolerance; }
};

/// A forward and backward pass of one rank's part of a batch.
struct GradientPass {
  Replica::Fill fill;
  std::function<void(const Lane&, int)> after_backward = {};
};

class DataParallel {
 public:
  /// All arguments must outlive this object. `group`: all ranks. Throws Error(environment) if
  /// several ranks have no way to exchange gradients.
  DataParallel(Replica& replica, Group& group, const DataParallelOptions& options = {});

  /// One step on a batch of which `fill` writes this rank's part. Call on every rank.
  /// `after_backward` as in LaneHooks. Loss and norm are equal on all ranks unless steps are local.
  /// Throws on all ranks if one of them throws, and Error(internal) if loss or norm is not finite.
  /// Where models are divided or steps are local, only that rank throws: others wait for it until
  /// the job is ended.
  StepOutcome step(const Replica::Fill& fill, double rate, double clip = 0.0,
                   const std::function<void(const Lane&, int)>& after_backward = {});

  /// Whether average_parameters() has to follow this many steps of a training of `last`, after
  /// which ranks have equal parameters again. Never unless steps are local.
  bool averages_after(std::int64_t steps, std::int64_t last) const {
    return local_ && (steps % local_steps_ == 0 || steps == last);
  }
  /// Ends a period of local steps; adds its time and the ranks' spread to `last`, the last step.
  void average_parameters(StepOutcome& last);
  /// Null unless steps are local.
  LocalSgd* local() { return local_.get(); }

  /// Compares the exchanged gradient of a batch with the gradient that every rank computes from all
  /// ranks' parts, to find losses and corruption by the exchange. First `own` is exchanged; then
  /// all ranks compute each copy's part in the order of copies, which takes a forward and backward
  /// pass per copy of the model, of each rank's own tokens. Parameters do not change. Every rank
  /// gets the same result. Copies are ranks where models are not divided. If the exchange is
  /// compressed, the gradient from all parts has all ranks' old residuals added and the new ones
  /// subtracted, summed over the control plane: the identity of error feedback. Residuals and
  /// factors then go on as after a step. Not with local steps.
  GradientAgreement compare_gradient(const GradientPass& own,
                                     const std::function<GradientPass(int copy)>& pass_of);
  GradientAgreement compare_gradient(const std::function<Replica::Fill(int copy)>& fill_of);
  /// Of this rank's copy, or part of one.
  std::uint64_t parameter_hash() const { return combined_hash(tensor_hashes(replica_)); }

  Replica& replica() { return replica_; }
  /// All ranks.
  Group& group() { return group_; }
  /// The ranks that have the same parameters: all, unless a model or its parameters are divided.
  Group& replicas() const { return replicas_; }
  /// The blocks whose parameters this rank updates, and whose optimizer state it has.
  const std::vector<BlockRange>& owned() const { return exchange_.owned(); }
  /// Whether the optimizer is sharded.
  bool shards() const { return exchange_.shards(); }
  bool overlaps() const { return exchange_.overlaps(); }
  /// Of the buffers of the exchange.
  std::int64_t exchange_bytes() const { return exchange_.bytes() + (local_ ? local_->bytes() : 0); }
  /// What the exchange keeps from step to step in addition to the optimizer (kept_label()).
  std::int64_t kept_bytes() const;
  /// The state of the exchange that the next steps depend on, of this rank, for checkpoints.
  std::vector<NamedView> exchange_state() const;
  /// Whether the optimizer's state is this rank's own: sharded, or of local steps.
  bool optimizer_is_own() const { return shards() || local_ != nullptr; }
  /// After parameters and exchange_state() were loaded.
  void resume();

 private:
  double agree_on_loss(std::exception_ptr thrown, StepOutcome& out);
  double gradient_norm();
  double norm_of_parts();

  Replica& replica_;
  Group& group_;
  const ModelRanks* model_;
  Group& copies_;    // ranks with other samples or tokens for the same part of a model
  Group& replicas_;  // those with the same parameters
  GradientExchange exchange_;
  std::unique_ptr<LocalSgd> local_ = {};
  std::int64_t local_steps_ = 1;
  Seconds computed_ = {};  // by this rank, since the last average
};

}  // namespace bench::training
