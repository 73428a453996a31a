#include "probes/data/loader/loader.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "devices/copies.h"
#include "devices/host_clock.h"
#include "probes/data/loader/placement.h"

namespace bench::data {
namespace {

/// Every batch begins on a new page.
std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

std::string why_not_locked(int error) {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string most = limit.rlim_cur == RLIM_INFINITY
                               ? "unlimited"
                               : format(Bytes{static_cast<double>(limit.rlim_cur)});
  return "the batches are not page-locked: " + std::generic_category().message(error) + " (" +
         most + " allowed; see ulimit -l)";
}

}  // namespace

Slots::Slots(const SlotsWish& wish)
    : bytes_(wish.bytes), stride_(whole_pages(wish.bytes)), all_(stride_ * wish.slots) {
  void* memory = ::mmap(nullptr, all_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw_errno("get " + format(Bytes{static_cast<double>(all_)}) + " for batches",
                "reduce num_workers, prefetch_factor or batch_size");
  memory_ = static_cast<std::byte*>(memory);
  labels_.assign(wish.slots, std::vector<std::int64_t>(wish.samples));
  std::thread([&] {
    try {
      run_on(wish.cpus);
      if (!wish.cpus.empty()) touch_where_it_runs();
    } catch (const Error& error) {
      obstacle_ = error.what();
    }
    std::memset(memory_, 0, all_);
  }).join();
  if (wish.locked) lock(wish.copies);
}

Slots::~Slots() {
  lock_.reset();
  ::munmap(memory_, all_);
}

void Slots::lock(Copies* copies) {
  if (copies == nullptr) {
    if (::mlock(memory_, all_) != 0) obstacle_ = why_not_locked(errno);
    return;
  }
  PageLockOffer offer = copies->lock({memory_, all_});
  lock_ = std::move(offer.lock);
  if (!lock_) obstacle_ = "the batches are not registered with the device: " + offer.reason;
}

namespace {

SlotsWish slots_for(const Pipeline& pipeline, const LoaderOptions& options) {
  SlotsWish wish;
  const auto ahead = static_cast<std::size_t>(options.num_workers * options.prefetch_factor);
  wish.slots = ahead + 1;  // and the one in use
  wish.samples = options.batch_size;
  wish.bytes = options.batch_size * pipeline.sample_bytes();
  wish.cpus = options.memory_cpus;
  wish.locked = options.pin_memory;
  wish.copies = options.copies;
  return wish;
}

std::uint64_t batches_of(const Pipeline& pipeline, std::uint64_t batch_size) {
  const std::uint64_t samples = pipeline.shape().samples;
  if (batch_size > 0 && batch_size <= samples) return samples / batch_size;
  throw Error(ErrorKind::input,
              fmt::format("batch_size {} exceeds the data set of {} {}s", batch_size, samples,
                          pipeline.item()),
              "reduce batch_size or use a larger data set");
}

}  // namespace

/// What a thread needs to make samples, and the sample order of its last epoch.
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

Loader::Loader(const Pipeline& pipeline, const LoaderOptions& options)
    : pipeline_(pipeline),
      options_(options),
      epoch_batches_(batches_of(pipeline, options.batch_size)),
      slots_(slots_for(pipeline, options)) {
  if (options.num_workers == 0) own_ = std::make_unique<Maker>(pipeline, options_);
}

Loader::~Loader() { stop(); }

void Loader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  stopping_ = false;
}

void Loader::begin(std::uint64_t epoch, std::uint64_t batches) {
  if (!options_.persistent_workers) stop();
  {
    std::unique_lock lock(mutex_);
    batches_ = 0;  // hands out no more tasks
    ++pass_;
    done_.wait(lock, [&] { return busy_ == 0; });
    making_.clear();
    lent_.reset();
    free_.clear();
    for (std::size_t slot = slots_.size(); slot-- > 0;) free_.push_back(slot);
    next_of_.clear();
    for (std::size_t w = 0; w < worker_count(); ++w) next_of_.push_back(w);
    first_epoch_ = epoch;
    next_ = taken_ = 0;
    idle_s_ = 0;
    batches_ = batches;
  }
  for (std::size_t w = threads_.size(); w < worker_count(); ++w)
    threads_.emplace_back([this, w] { serve(w); });
  work_.notify_all();
}

double Loader::idle_s() const {
  const std::lock_guard lock(mutex_);
  return idle_s_;
}

std::vector<SamplePlace> Loader::places(std::uint64_t number) const {
  const std::uint64_t epoch = first_epoch_ + number / epoch_batches_;
  const SampleOrder order(pipeline_.shape(), options_.shuffle, options_.seed, epoch);
  std::vector<SamplePlace> found;
  const std::uint64_t first = number % epoch_batches_ * options_.batch_size;
  for (std::uint64_t i = 0; i < options_.batch_size; ++i)
    found.push_back({epoch, order.at(first + i)});
  return found;
}

void Loader::make(Maker& maker, const Task& task, StageClock& clock) {
  const Making& batch = *task.batch;
  const std::uint64_t epoch = first_epoch_ + batch.number / epoch_batches_;
  const std::uint64_t first = batch.number % epoch_batches_ * options_.batch_size + task.first;
  const std::size_t size = pipeline_.sample_bytes();
  BatchPart out;
  out.data = slots_.data(batch.slot).subspan(task.first * size, task.count * size);
  out.labels = slots_.labels(batch.slot).subspan(task.first, task.count);
  maker.make(epoch, first, task.count, out, clock);
}

Batch Loader::lend(Making& making, bool ready) {
  Batch batch;
  batch.number = making.number;
  batch.data = slots_.data(making.slot);
  batch.labels = slots_.labels(making.slot);
  batch.ready = ready;
  batch.made_s = making.ended_s - making.began_s;
  batch.effort = making.effort;
  lent_ = making.slot;
  ++taken_;
  return batch;
}

Batch Loader::make_here() {
  Making making;
  making.number = taken_;
  making.slot = 0;
  making.began_s = steady_now().value;
  own_clock_.begin_anew(making.effort);
  make(*own_, {&making, 0, options_.batch_size}, own_clock_);
  making.ended_s = steady_now().value;
  return lend(making, false);
}

std::optional<Batch> Loader::next() {
  std::unique_lock lock(mutex_);
  if (taken_ >= batches_) return std::nullopt;
  if (own_) return make_here();
  if (lent_) free_.push_back(*lent_);
  lent_.reset();
  work_.notify_all();
  Making* found = deliverable();
  const bool ready = found != nullptr;
  while (found == nullptr) {
    done_.wait(lock);
    found = deliverable();
  }
  const auto at = std::ranges::find(making_, found, &std::unique_ptr<Making>::get);
  const std::unique_ptr<Making> making = std::move(*at);
  making_.erase(at);
  const Batch batch = lend(*making, ready);
  lock.unlock();
  work_.notify_all();  // another batch may be started
  if (making->error) std::rethrow_exception(making->error);
  return batch;
}

/// The next batch to deliver; null if it is not ready.
Loader::Making* Loader::deliverable() {
  Making* best = nullptr;
  for (const auto& making : making_) {
    if (options_.in_order && making->number != taken_) continue;
    if (making->made < options_.batch_size) continue;
    if (best == nullptr || making->ended_s < best->ended_s) best = making.get();
  }
  return best;
}

/// Limits the batches in work to prefetch_factor per worker.
bool Loader::may_begin(std::uint64_t number) const {
  const auto ahead = static_cast<std::uint64_t>(options_.num_workers * options_.prefetch_factor);
  return number < batches_ && number < taken_ + ahead && !free_.empty();
}

Loader::Making* Loader::begin_batch(std::uint64_t number) {
  auto making = std::make_unique<Making>();
  making->number = number;
  making->slot = free_.back();
  making->began_s = steady_now().value;
  free_.pop_back();
  making_.push_back(std::move(making));
  return making_.back().get();
}

std::optional<Loader::Task> Loader::take(std::size_t worker) {
  const std::uint64_t size = options_.batch_size;
  if (options_.dispatch == Dispatch::sample) {
    for (const auto& making : making_)
      if (making->given < size) {
        const Task task{making.get(), making->given,
                        std::min(pipeline_.grain(), size - making->given)};
        making->given += task.count;
        return task;
      }
    if (!may_begin(next_)) return std::nullopt;
    begin_batch(next_++);
    return take(worker);
  }
  std::uint64_t& number = options_.in_order ? next_of_[worker] : next_;
  if (!may_begin(number)) return std::nullopt;
  Making* making = begin_batch(number);
  number += options_.in_order ? worker_count() : 1;
  making->given = size;
  return Task{making, 0, size};
}

void Loader::serve(std::size_t worker) {
  std::unique_ptr<Maker> maker;
  StageClock clock;
  std::unique_lock lock(mutex_);
  while (true) {
    std::optional<Task> task;
    const double began = steady_now().value;
    const std::uint64_t pass = pass_;
    while (!stopping_ && !(task = take(worker))) work_.wait(lock);
    if (stopping_) return;
    if (pass == pass_) idle_s_ += steady_now().value - began;
    ++busy_;
    lock.unlock();
    Effort effort;
    clock.begin(effort);
    std::exception_ptr error;
    try {
      if (!maker) {
        run_on(options_.worker_cpus);
        maker = std::make_unique<Maker>(pipeline_, options_);
      }
      make(*maker, *task, clock);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    --busy_;
    Making& making = *task->batch;
    making.effort += effort;
    making.made += task->count;
    making.ended_s = steady_now().value;
    if (error && !making.error) making.error = error;
    done_.notify_all();
  }
}

}  // namespace bench::data
