// Makes batches ahead of their consumer, with the options and defaults of PyTorch's DataLoader.
// Workers are threads, not processes: they share open files, and nothing is copied between them.
//   num_workers       0: next() makes the batch itself
//   prefetch_factor   batches ahead per worker
//
//   in_order          batches are delivered in order: each worker makes every num_workers-th, and a
//                     late one delays all later ones. Else the first ready batch is delivered, and
//                     a free worker takes the next.
//
//   persistent_workers   threads outlive a pass; else each begin() starts new ones
//   pin_memory        batches are page-locked, for the device if there is one
// The last, smaller batch of an epoch is dropped (drop_last=True), as in trainings.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/names.h"
#include "probes/data/pipelines/effort.h"
#include "probes/data/pipelines/pipeline.h"

namespace bench {
class Copies;
class PageLock;
}  // namespace bench

namespace bench::data {

struct SlotsWish {
  std::size_t slots = 1;
  std::size_t bytes = 0;       // of a batch
  std::size_t samples = 0;     // of a batch
  std::vector<int> cpus = {};  // that first touch them, which decides the NUMA node
  bool locked = false;         // page-locked
  Copies* copies = nullptr;    // of the device that they are locked for; null: none
};

/// Memory for finished batches, allocated and touched before anything is timed: the first touch of
/// a page costs more than all later accesses of a loader.
class Slots {
 public:
  /// Throws Error(environment) if the memory cannot be allocated.
  explicit Slots(const SlotsWish& wish);
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  std::size_t size() const { return labels_.size(); }
  std::span<std::byte> data(std::size_t slot) const { return {memory_ + slot * stride_, bytes_}; }
  std::span<std::int64_t> labels(std::size_t slot) { return labels_[slot]; }
  /// Why the memory is not locked as requested; "" otherwise.
  const std::string& obstacle() const { return obstacle_; }

 private:
  void lock(Copies* copies);

  std::size_t bytes_, stride_, all_;
  std::byte* memory_ = nullptr;
  std::vector<std::vector<std::int64_t>> labels_;
  std::unique_ptr<PageLock> lock_;
  std::string obstacle_;
};

/// Who makes a batch: one worker, as in PyTorch, or all workers together.
enum class Dispatch { batch, sample };
inline constexpr NameTable<Dispatch, 2> kDispatches{
    {{{Dispatch::batch, "batch"}, {Dispatch::sample, "sample"}}}};

struct LoaderOptions {
  int num_workers = 0;
  int prefetch_factor = 2;
  bool pin_memory = false;
  bool persistent_workers = false;
  bool in_order = true;
  std::uint64_t batch_size = 1;
  Dispatch dispatch = Dispatch::batch;
  bool shuffle = true;
  std::uint64_t seed = 1;
  std::vector<int> worker_cpus = {};  // empty: any
  std::vector<int> memory_cpus = {};  // near which batches are allocated; empty: anywhere
  Copies* copies = nullptr;           // of the device for which batches are locked
};

/// Valid until the next call of next().
struct Batch {
  std::uint64_t number = 0;  // since begin()
  std::span<const std::byte> data = {};
  std::span<const std::int64_t> labels = {};
  bool ready = false;  // it was ready on request
  double made_s = 0;   // wall time from its first sample to its last
  Effort effort = {};
};

/// The place of a sample of a pass in the data set.
struct SamplePlace {
  std::uint64_t epoch, sample;
};

class Loader {
 public:
  /// The pipeline is borrowed. Throws Error(input) for a data set smaller than a batch,
  /// Error(environment) without enough threads or memory.
  Loader(const Pipeline& pipeline, const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Starts a pass of so many batches from the start of `epoch`, over as many epochs as needed;
  /// drops the rest of an earlier pass.
  void begin(std::uint64_t epoch, std::uint64_t batches);
  /// Nothing at the end of the pass. Rethrows the exception of a worker that made this batch.
  std::optional<Batch> next();

  /// The samples of a batch of this pass, in order.
  std::vector<SamplePlace> places(std::uint64_t number) const;
  /// Idle time of all workers since begin(), while batches were ready and not taken.
  double idle_s() const;
  const std::string& obstacle() const { return slots_.obstacle(); }

 private:
  struct Making {
    std::uint64_t number = 0;
    std::size_t slot = 0;
    std::uint64_t given = 0, made = 0;  // samples
    double began_s = 0, ended_s = 0;
    Effort effort = {};
    std::exception_ptr error = {};
  };
  struct Task {
    Making* batch = nullptr;
    std::uint64_t first = 0, count = 0;  // samples of the batch
  };
  class Maker;

  std::size_t worker_count() const { return static_cast<std::size_t>(options_.num_workers); }
  void stop();
  void serve(std::size_t worker);
  bool may_begin(std::uint64_t number) const;
  std::optional<Task> take(std::size_t worker);
  Making* begin_batch(std::uint64_t number);
  void make(Maker& maker, const Task& task, StageClock& clock);
  Making* deliverable();
  Batch lend(Making& making, bool ready);
  Batch make_here();

  const Pipeline& pipeline_;
  LoaderOptions options_;
  std::uint64_t epoch_batches_;
  Slots slots_;
  std::unique_ptr<Maker> own_;  // for next() without workers
  StageClock own_clock_ = {};

  mutable std::mutex mutex_;
  std::condition_variable work_, done_;
  bool stopping_ = false;
  std::uint64_t pass_ = 0, first_epoch_ = 0, batches_ = 0, taken_ = 0, next_ = 0;
  std::vector<std::uint64_t> next_of_ = {};  // by worker, if batches are in order
  std::vector<std::size_t> free_ = {};
  std::deque<std::unique_ptr<Making>> making_ = {};
  std::optional<std::size_t> lent_ = {};
  double idle_s_ = 0;
  int busy_ = 0;
  std::vector<std::thread> threads_ = {};
};

}  // namespace bench::data
