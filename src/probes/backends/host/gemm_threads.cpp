#include "probes/backends/host/gemm_threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <atomic>
#include <string>

#include "core/error.h"
#include "probes/backends/host/host_cpus.h"
#include "probes/facts/allowed_cpus.h"

namespace bench {
namespace {

#ifdef _OPENMP
void set_threads(int count) {
  omp_set_dynamic(0);
  omp_set_num_threads(count);
}

/// Calls `each(thread)` on every thread of the pool; how many there were.
template <class Each>
int on_all_threads(const Each& each) {
  std::atomic<int> count{0};
#pragma omp parallel
  {
    each(omp_get_thread_num());
    ++count;
  }
  return count;
}
#else
void set_threads(int) {}

template <class Each>
int on_all_threads(const Each& each) {
  each(0);
  return 1;
}
#endif

}  // namespace

LibraryThreads::LibraryThreads(const std::vector<int>& cores, HostThreadWatch& watch)
    : count_(static_cast<int>(cores.size())), watch_(watch), caller_affinity_(allowed_cpus()) {
  set_threads(count_);
  std::atomic<int> failed{0};
  const int got = on_all_threads([&](int thread) {
    try {
      pin_to(cores.at(static_cast<std::size_t>(thread)));
      watch_.add_current_thread();
    } catch (const std::exception&) {  // must not leave the parallel region
      ++failed;
    }
  });
  if (got == count_ && failed == 0) return;
  pin_to(caller_affinity_);
  throw Error(ErrorKind::environment,
              "OpenMP gave " + std::to_string(got) + " threads, but " + std::to_string(count_) +
                  " were requested, and " + std::to_string(failed.load()) + " could not be pinned",
              "check OMP_THREAD_LIMIT, and that this build has OpenMP");
}

std::optional<double> LibraryThreads::core_share(const std::string& isa) {
  if (!cores_) cores_.emplace(count_, isa);
  return cores_->smallest([](const auto& work) { on_all_threads(work); });
}

LibraryThreads::~LibraryThreads() {
  on_all_threads([&](int thread) {
    if (thread != 0) watch_.remove_current_thread();
  });
  set_threads(1);
  try {
    pin_to(caller_affinity_);
  } catch (const Error&) {  // the caller then stays on the core it has
  }
}

}  // namespace bench
