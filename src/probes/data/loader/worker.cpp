// What worker threads of a loader do.
#include <algorithm>

#include "core/error.h"
#include "probes/data/loader/loader.h"
#include "probes/data/loader/loader_maker.h"
#include "probes/data/loader/placement.h"
#include "probes/host_clock.h"

namespace bench::data {

/// As many batches as prefetch_factor says are ahead of the one that was handed out last.
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
