// Reads logs in parallel on all available cores.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "results/mlperf/log/log.h"

namespace bench::mlperf {
namespace {

/// Shared by the threads: the next log and the first exception.
class Work {
 public:
  Work(const std::vector<std::filesystem::path>& paths,
       const std::function<void(std::size_t, const Log&)>& each)
      : paths_(paths), each_(each) {}

  void take_logs() {
    for (std::size_t index; (index = next_++) < paths_.size();) {
      try {
        each_(index, read_log(paths_[index]));
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (first_ == nullptr) first_ = std::current_exception();
        next_ = paths_.size();
      }
    }
  }

  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  const std::vector<std::filesystem::path>& paths_;
  const std::function<void(std::size_t, const Log&)>& each_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace

void read_logs(const std::vector<std::filesystem::path>& paths,
               const std::function<void(std::size_t, const Log&)>& each) {
  Work work(paths, each);
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());  // respects the CPU affinity
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(cores, paths.size()); ++i)
      others.emplace_back([&work] { work.take_logs(); });
    work.take_logs();
  }
  work.rethrow();
}

}  // namespace bench::mlperf
