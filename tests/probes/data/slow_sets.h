// Data sets whose batches take as long as the test says, and devices that take batches as slowly.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "devices/copies.h"
#include "devices/host_clock.h"
#include "probes/data/pipelines/pipeline.h"

namespace bench::data {

/// A batch takes as long, whatever its size; a sample is its number.
class SlowPipeline final : public Pipeline {
 public:
  explicit SlowPipeline(double batch_s) : Pipeline("sample", 1, {1000, {}}), batch_s_(batch_s) {}
  /// From the second thread on samples have other bytes than those of the first.
  bool differs_by_thread = false;

  std::size_t sample_bytes() const override { return sizeof(std::uint64_t); }
  double touched_bytes() const override { return 8; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  std::unique_ptr<PipelineWorker> worker() const override {
    return std::make_unique<Worker>(*this, threads_++);
  }

 private:
  class Worker final : public PipelineWorker {
   public:
    Worker(const SlowPipeline& pipeline, std::uint64_t thread)
        : pipeline_(pipeline), spoiled_(pipeline.differs_by_thread ? thread << 32 : 0) {}
    void make(std::uint64_t, std::span<const std::uint64_t> samples, BatchPart out,
              StageClock& clock) override {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::uint64_t value = samples[i] | spoiled_;
        std::memcpy(out.data.data() + i * sizeof(value), &value, sizeof(value));
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(pipeline_.batch_s_));
      clock.end(Stage::copy);
      clock.count_samples(samples.size());
    }
    void fetch(std::uint64_t, std::span<const std::uint64_t>, StageClock&) override {}

   private:
    const SlowPipeline& pipeline_;
    std::uint64_t spoiled_;
  };

  double batch_s_;
  mutable std::atomic<std::uint64_t> threads_{0};
};

/// A batch arrives so long after its copy was begun, whatever the host does meanwhile.
class SlowUploads final : public Uploads {
 public:
  explicit SlowUploads(double seconds, bool damages = false)
      : seconds_(seconds), damages_(damages) {}

  void start(std::span<const std::byte> from) override {
    begun_ = steady_now().value;
    arrived_.assign(from.begin(), from.end());
    if (damages_) arrived_.back() ^= std::byte{1};
  }
  void finish() override {
    const double left = begun_ + seconds_ - steady_now().value;
    if (left > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
  }
  std::uint64_t wrong(std::span<const std::byte> expected) override {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) wrong += arrived_[i] != expected[i] ? 1 : 0;
    return wrong;
  }

 private:
  double seconds_, begun_ = 0.0;
  bool damages_;
  std::vector<std::byte> arrived_ = {};
};

/// A device that batches have to be copied to.
class SlowCopies final : public Copies {
 public:
  explicit SlowCopies(double seconds) : seconds_(seconds) {}

  std::vector<int> peers() const override { return {}; }
  std::vector<int> numa_nodes() const override { return {0}; }
  CopyOffer prepare(const CopyRequest&) override { return {nullptr, "it only takes batches"}; }
  PageLockOffer lock(std::span<std::byte> memory) override {
    if (!refusal.empty()) return {nullptr, refusal};
    locked += memory.size();
    return {std::make_unique<Lock>(*this, memory.size()), ""};
  }
  UploadsOffer uploads(std::size_t) override {
    return {std::make_unique<SlowUploads>(seconds_, damages), ""};
  }

  std::string refusal = {};
  std::size_t locked = 0, most_locked = 0;  // bytes
  bool damages = false;

 private:
  class Lock final : public PageLock {
   public:
    Lock(SlowCopies& copies, std::size_t bytes) : copies_(copies), bytes_(bytes) {
      copies_.most_locked = std::max(copies_.most_locked, copies_.locked);
    }
    ~Lock() override { copies_.locked -= bytes_; }

   private:
    SlowCopies& copies_;
    std::size_t bytes_;
  };

  double seconds_;
};

}  // namespace bench::data
