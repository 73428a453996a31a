#include "devices/host/team.h"

#include <chrono>

#include "core/error.h"
#include "devices/facts/cpu_facts.h"
#include "devices/host/host_cpus.h"

namespace bench {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Waits until `value` differs from `old`: spins for a few milliseconds, then sleeps.
void await_change(const std::atomic<unsigned>& value, unsigned old) {
  constexpr auto kSpin = std::chrono::milliseconds(5);
  const auto give_up = std::chrono::steady_clock::now() + kSpin;
  while (value.load(std::memory_order_acquire) == old) {
    for (int i = 0; i < 256; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      relax();
    }
    if (std::chrono::steady_clock::now() > give_up) {
      value.wait(old, std::memory_order_acquire);
      return;
    }
  }
}

}  // namespace

Team::Team(std::vector<int> cores, HostThreadWatch& watch)
    : cores_(std::move(cores)), caller_affinity_(allowed_cpus()), watch_(watch) {
  pin_to(cores_.at(0));
  for (int thread = 1; thread < size(); ++thread)
    threads_.emplace_back([this, thread] { serve(thread); });
  while (ready_.load() < size() - 1) std::this_thread::yield();
  if (unpinned_.load() > 0) {
    const int failed = unpinned_.load();
    stop_ = true;
    ++generation_;
    generation_.notify_all();
    for (auto& thread : threads_) thread.join();
    throw Error(ErrorKind::environment,
                std::to_string(failed) + " threads could not be pinned to their cores",
                "check whether the CPU set of this process changes");
  }
}

Team::~Team() {
  stop_ = true;
  ++generation_;
  generation_.notify_all();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
  try {
    pin_to(caller_affinity_);
  } catch (const Error&) {  // the caller stays pinned
  }
}

void Team::run(const std::function<void(int)>& work) {
  work_ = &work;
  done_.store(0, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  work(0);
  while (done_.load(std::memory_order_acquire) < size() - 1) relax();
}

void Team::serve(int thread) {
  try {
    pin_to(cores_[static_cast<std::size_t>(thread)]);
  } catch (const Error&) {
    ++unpinned_;
  }
  watch_.add_current_thread();
  unsigned seen = generation_.load();
  ++ready_;
  for (;;) {
    await_change(generation_, seen);
    ++seen;
    if (stop_) break;
    (*work_)(thread);
    done_.fetch_add(1, std::memory_order_release);
  }
  watch_.remove_current_thread();
}

}  // namespace bench
