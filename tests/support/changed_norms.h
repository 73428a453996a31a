// Kernels for training whose norms are wrong in a way that a test chooses.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "training/host/host_kernels.h"
#include "training/parallel/training_kernels.h"

namespace bench {

class ChangedNorms final : public training::NormKernels {
 public:
  /// Called after each forward norm.
  using Change = std::function<void(training::View x, training::View y)>;

  ChangedNorms(std::unique_ptr<NormKernels> right, Change change)
      : right_(std::move(right)), change_(std::move(change)) {}
  void rms_forward(training::View x, training::View gain, double epsilon, training::View y,
                   training::View statistics) override {
    right_->rms_forward(x, gain, epsilon, y, statistics);
    change_(x, y);
  }
  void rms_backward(const training::NormBackward& what) override { right_->rms_backward(what); }
  void layer_forward(training::View x, training::View gain, training::View bias, double epsilon,
                     training::View y, training::View statistics) override {
    right_->layer_forward(x, gain, bias, epsilon, y, statistics);
    change_(x, y);
  }
  void layer_backward(const training::NormBackward& what) override { right_->layer_backward(what); }

 private:
  std::unique_ptr<NormKernels> right_;
  Change change_;
};

/// The host's, each set with a change of its own.
class KernelsOfChangedNorms final : public TrainingKernels {
 public:
  explicit KernelsOfChangedNorms(ChangedNorms::Change change) : change_(std::move(change)) {}
  std::string name() const override { return "changed"; }
  training::KernelSet make(Dtype dtype) override {
    training::KernelSet set = training::host_kernels(dtype);
    set.norm = std::make_unique<ChangedNorms>(std::move(set.norm), change_);
    return set;
  }

 private:
  ChangedNorms::Change change_;
};

}  // namespace bench
