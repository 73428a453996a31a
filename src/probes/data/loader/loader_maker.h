// One thread's share in making batches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "probes/data/loader/loader.h"

namespace bench::data {

/// What a thread needs to make samples, and the order of the epoch it last looked at.
class Loader::Maker {
 public:
  Maker(const Pipeline& pipeline, const LoaderOptions& options)
      : pipeline_(pipeline), options_(options), worker_(pipeline.worker()) {}

  void make(std::uint64_t epoch, std::uint64_t first, std::uint64_t count, BatchPart out,
            StageClock& clock) {
    if (!order_ || epoch_ != epoch)
      order_.emplace(pipeline_.shape(), options_.shuffle, options_.seed, epoch);
    epoch_ = epoch;
    samples_.resize(count);
    order_->fill(first, samples_);
    clock.end(Stage::order);
    worker_->make(epoch, samples_, out, clock);
  }

 private:
  const Pipeline& pipeline_;
  const LoaderOptions& options_;
  std::unique_ptr<PipelineWorker> worker_;
  std::optional<SampleOrder> order_;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint64_t> samples_;
};

}  // namespace bench::data
