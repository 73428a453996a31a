// Threads, including the caller, that do the same work on different parts. The part of each thread
// never depends on timing, so neither do results.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace bench::training {

class WorkerPool {
 public:
  /// `threads` >= 1, of which threads - 1 are started. Throws Error(environment) if that fails.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int size() const { return static_cast<int>(errors_.size()); }
  /// work(thread) on every thread; returns when all are done, and rethrows the exception of the
  /// lowest-numbered thread that failed.
  template <class Work>
  void run(const Work& work) {
    run_function(std::cref(work));  // a reference fits into a function: nothing is allocated
  }

 private:
  void run_function(const std::function<void(int thread)>& work);
  void serve(int thread);
  void attempt(int thread);

  const std::function<void(int)>* work_ = nullptr;
  std::atomic<unsigned> generation_{0};
  std::atomic<int> busy_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::exception_ptr> errors_;
  std::vector<std::thread> threads_;
};

}  // namespace bench::training
