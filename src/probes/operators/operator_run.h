// One operator, forward or backward, on the threads of a rank: each thread has inputs and outputs
// of its own and shares the parameters, as the lanes of a training.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/record.h"
#include "probes/operators/operator_cases.h"
#include "training/engine/lane.h"
#include "training/engine/worker_pool.h"

namespace bench {

enum class OperatorPass { forward, backward };

/// What one thread does in one call.
struct OperatorCost {
  double flops = 0.0;   // of GEMMs by the convention of MFU, and elementwise (BuiltOperator)
  double bytes = 0.0;   // that must move if each tensor is read or written once
  double own = 0.0;     // bytes of the thread's own tensors that it uses
  double shared = 0.0;  // bytes of parameters and constants, which threads share
  /// Bytes in addition to the inputs: the output or the gradients, where they do not take the
  /// memory of an input, what is saved for the backward pass, and scratch memory.
  double memory = 0.0;

  double working_set(int threads) const { return shared + threads * own; }
};

/// An operator in a graph of its own with the memory plan of a training step.
class OperatorModel {
 public:
  OperatorModel(const OperatorCase& which, const OperatorSizes& sizes, Dtype dtype);
  OperatorModel(const OperatorModel&) = delete;
  OperatorModel& operator=(const OperatorModel&) = delete;

  /// Why the operator cannot have these sizes; nothing else is valid then. "" if it can.
  const std::string& why_not() const { return why_not_; }
  const Json& shape() const { return built_.shape; }
  bool has(OperatorPass pass) const { return action(pass) >= 0; }
  OperatorCost cost(OperatorPass pass) const;

  const training::Plan& plan() const { return plan_; }
  const training::Graph& graph() const { return graph_; }
  const OperatorInputs& inputs() const { return inputs_; }
  /// Its number in the plan; -1 without one.
  int action(OperatorPass pass) const;
  std::int64_t rows() const { return built_.output.shape().rows(); }
  /// The tensors that a pass computes or changes.
  std::vector<training::View> results(const training::Lane& lane, OperatorPass pass) const;
  /// Where the gradient of the output is written before a backward pass; absent for a loss.
  training::Var sent() const { return sent_; }
  /// Whether a second call finds other inputs than the first.
  bool changes_its_inputs(OperatorPass pass) const;

 private:
  training::Graph graph_;
  OperatorInputs inputs_;
  BuiltOperator built_ = {};
  std::string why_not_ = {};
  int node_ = -1;
  training::Var sent_ = {};
  training::Plan plan_ = {};
};

/// The numbers of each tensor of a pass (OperatorModel::results).
using OperatorResults = std::vector<std::vector<double>>;

class OperatorRun {
 public:
  OperatorRun(const OperatorModel& model, const training::KernelFactory& kernels, int threads,
              std::uint64_t seed);

  /// Brings all threads to where the pass of the operator can be repeated.
  void prepare(OperatorPass pass);
  /// The prepared pass, `calls` times on each thread.
  void run(std::int64_t calls);
  /// What the last call computed on this thread.
  OperatorResults last_results(int thread) const;
  /// Compares what the last call computed on each thread; where calls change their inputs, that is
  /// finite, and another call on the first inputs is compared.
  Check check(const OperatorResults& reference);

  /// Results on the same inputs and parameters by `wide`, the same operator in another type, and
  /// kernels of the host.
  OperatorResults reference(const OperatorModel& wide, const training::KernelFactory& kernels,
                            OperatorPass pass) const;

 private:
  const OperatorModel& model_;
  std::uint64_t seed_;
  std::shared_ptr<training::Memory> memory_;
  training::Weights weights_;
  std::vector<std::unique_ptr<training::Lane>> lanes_ = {};
  training::WorkerPool pool_;
  training::StepScalars scalars_ = {};
  OperatorPass pass_ = OperatorPass::forward;
};

/// Of OperatorRun::check(): the rounding of GEMMs over some thousand rows stays well below.
double tolerance_of(Dtype dtype);

/// The largest difference of a result, as a share of the largest number of its tensor; NaN if there
/// is one.
double largest_difference(const OperatorResults& found, const OperatorResults& reference);

}  // namespace bench
