#include "training/engine/worker_pool.h"

#include <system_error>

#include "core/error.h"
#include "training/engine/spin_wait.h"

namespace bench::training {
WorkerPool::WorkerPool(int threads) : errors_(static_cast<std::size_t>(threads > 0 ? threads : 1)) {
  try {
    for (int thread = 1; thread < size(); ++thread)
      threads_.emplace_back([this, thread] { serve(thread); });
  } catch (const std::system_error& error) {
    stop_ = true;
    ++generation_;
    generation_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    throw Error(ErrorKind::environment,
                "cannot start " + std::to_string(threads) + " threads: " + error.what(),
                "use fewer threads or raise the process limit (ulimit -u)");
  }
}

WorkerPool::~WorkerPool() {
  stop_ = true;
  ++generation_;
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::attempt(int thread) {
  try {
    (*work_)(thread);
  } catch (...) {
    errors_[static_cast<std::size_t>(thread)] = std::current_exception();
  }
}

void WorkerPool::serve(int thread) {
  for (unsigned seen = 0;; ++seen) {
    wait_while(generation_, seen);
    if (stop_) return;
    attempt(thread);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
  }
}

void WorkerPool::run_function(const std::function<void(int)>& work) {
  work_ = &work;
  busy_ = size() - 1;
  ++generation_;
  generation_.notify_all();
  attempt(0);
  for (int left = busy_; left > 0; left = busy_) wait_while(busy_, left);
  for (std::exception_ptr& error : errors_)
    if (error) {
      const std::exception_ptr first = error;
      errors_.assign(errors_.size(), nullptr);
      std::rethrow_exception(first);
    }
}

}  // namespace bench::training
