// A workload whose samples are wrong: changed as they are read, or repeated under other numbers.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "training/workloads/workload.h"

namespace bench::training {

class ChangedWorkload final : public Workload {
 public:
  explicit ChangedWorkload(std::unique_ptr<Workload> inner) : inner_(std::move(inner)) {}

  std::uint64_t repeat = 0;  // training samples repeat after so many; 0: never
  /// Called after samples have been written to a lane's inputs.
  std::function<void(Split, const Model&, const Lane&)> spoil = {};

  std::string name() const override { return inner_->name(); }
  std::string preset() const override { return inner_->preset(); }
  const Recipe& recipe() const override { return inner_->recipe(); }
  std::string item() const override { return inner_->item(); }
  std::int64_t items_per_sample() const override { return inner_->items_per_sample(); }
  double flops_per_sample() const override { return inner_->flops_per_sample(); }
  Model model(std::int64_t samples, Dtype dtype, bool recompute) const override {
    return inner_->model(samples, dtype, recompute);
  }
  Model model_part(const ModelPart& part, std::int64_t samples, Dtype dtype,
                   bool recompute) const override {
    return inner_->model_part(part, samples, dtype, recompute);
  }
  std::unique_ptr<Optimizer> optimizer() const override { return inner_->optimizer(); }
  void prepare() const override { inner_->prepare(); }
  void read(Split split, std::uint64_t first, const Model& model, const Lane& lane) const override {
    // Answers exist for the right numbers only.
    inner_->read(split, rollouts() != nullptr ? first : at(split, first), model, lane);
    if (spoil) spoil(split, model, lane);
  }
  std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const override {
    return inner_->checksum(split, at(split, first), count);
  }
  std::optional<std::uint64_t> source_hash(Split split, std::uint64_t sample) const override {
    return inner_->source_hash(split, at(split, sample));
  }
  Rollouts* rollouts() override { return inner_->rollouts(); }
  const Rollouts* rollouts() const override { return std::as_const(*inner_).rollouts(); }
  std::unique_ptr<Evaluation> evaluation(const Model& model) const override {
    return inner_->evaluation(model);
  }

 private:
  std::uint64_t at(Split split, std::uint64_t first) const {
    return split == Split::train && repeat > 0 ? first % repeat : first;
  }
  std::unique_ptr<Workload> inner_;
};

}  // namespace bench::training
