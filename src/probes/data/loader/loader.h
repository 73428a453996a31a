// Makes batches ahead of the one who needs them, with the knobs and defaults of PyTorch's
// DataLoader under their own names. Workers are threads, not processes: they share what is open,
// and nothing is copied from one to the other.
//   num_workers       0: next() makes the batch itself
//   prefetch_factor   batches ahead for each worker: at most so many times the workers at once
//
//   in_order          batches come in order: each worker has every num_workers-th, and a late one
//                     holds up all behind it. Else whichever is ready comes, and a worker that is
//                     free takes the next.
//
//   persistent_workers   threads outlive a pass; else each begin() starts new ones
//   pin_memory        batches lie in memory that is locked, for the device where there is one
// The last, smaller batch of an epoch is left out (drop_last=True), as trainings do.
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

// Memory for finished batches, had and touched before anything is timed: the first touch of a page
// costs more than all that a loader does with it later.

class Copies;
class PageLock;
}  // namespace bench

namespace bench::data {

struct SlotsWish {
  std::size_t slots = 1;
  std::size_t bytes = 0;       // of a batch
  std::size_t samples = 0;     // of a batch
  std::vector<int> cpus = {};  // on which they are touched first, which decides on their node
  bool locked = false;         // kept in memory
  Copies* copies = nullptr;    // of the device that they are locked for; null: of none
};

class Slots {
 public:
  /// Throws Error(environment) where the memory cannot be had.
  explicit Slots(const SlotsWish& wish);
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  std::size_t size() const { return labels_.size(); }
  std::span<std::byte> data(std::size_t slot) const { return {memory_ + slot * stride_, bytes_}; }
  std::span<std::int64_t> labels(std::size_t slot) { return labels_[slot]; }
  /// Why the memory was not locked though it should be; "" else.
  const std::string& obstacle() const { return obstacle_; }

 private:
  void lock(Copies* copies);

  std::size_t bytes_, stride_, all_;
  std::byte* memory_ = nullptr;
  std::vector<std::vector<std::int64_t>> labels_;
  std::unique_ptr<PageLock> lock_;
  std::string obstacle_;
};

/// Who makes a batch: one worker, as PyTorch has it, or all of them together, some samples each.
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
  std::vector<int> memory_cpus = {};  // alongside which batches lie; empty: anywhere
  Copies* copies = nullptr;           // of the device that batches are locked for
};

/// Lent until the next call of next().
struct Batch {
  std::uint64_t number = 0;  // since begin()
  std::span<const std::byte> data = {};
  std::span<const std::int64_t> labels = {};
  bool ready = false;  // it was made before it was asked for
  double made_s = 0;   // from the first of its samples to the last, on the wall
  Effort effort = {};
};

/// Where a sample of a pass stands in the data set.
struct SamplePlace {
  std::uint64_t epoch, sample;
};

class Loader {
 public:
  /// The pipeline is borrowed. Throws Error(input) for a data set smaller than a batch,
  /// Error(environment) where threads or memory cannot be had.
  Loader(const Pipeline& pipeline, const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Begins a pass of so many batches, from the first of `epoch` on and over as many epochs as it
  /// takes; what an earlier pass left is dropped.
  void begin(std::uint64_t epoch, std::uint64_t batches);
  /// Nothing at the end of the pass. Rethrows what a worker met while it made this batch.
  std::optional<Batch> next();

  /// What the samples of a batch of this pass are, in their order.
  std::vector<SamplePlace> places(std::uint64_t number) const;
  /// Time that workers had nothing to do, since begin(), all together: batches were ready and
  /// nobody took them.
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
  std::unique_ptr<Maker> own_;  // of next(), without workers
  StageClock own_clock_ = {};

  mutable std::mutex mutex_;
  std::condition_variable work_, done_;
  bool stopping_ = false;
  std::uint64_t pass_ = 0, first_epoch_ = 0, batches_ = 0, taken_ = 0, next_ = 0;
  std::vector<std::uint64_t> next_of_ = {};  // by worker, where each has its own
  std::vector<std::size_t> free_ = {};
  std::deque<std::unique_ptr<Making>> making_ = {};
  std::optional<std::size_t> lent_ = {};
  double idle_s_ = 0;
  int busy_ = 0;
  std::vector<std::thread> threads_ = {};
};

}  // namespace bench::data
