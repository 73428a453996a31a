// Throughput of atomic increments. Private counters: each thread has a cache line of its own.
// Shared counter: all threads increment one, so its cache line moves between cores. The counters
// must add up to the number of increments.
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "probes/probe.h"
#include "probes/shared/thread_counts.h"
#include "probes/state.h"

namespace bench {
namespace {

// Two cache lines, because prefetchers fetch lines in pairs.
struct alignas(128) AtomicCounter {
  std::atomic<std::int64_t> value{0};
};

/// Threads that increment in step: the calling thread is one of them, the others are made once and
/// wait between samples. One call is one increment by each thread.
class Incrementers {
 public:
  Incrementers(int threads, bool shared, std::int64_t lost)
      : threads_(threads),
        lost_(lost),
        counters_(shared ? 1 : static_cast<std::size_t>(threads)),
        begin_(threads),
        end_(threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  }
  ~Incrementers() {
    stop_ = true;
    begin_.arrive_and_wait();
  }

  /// The timed work. It does not allocate, log or start threads.
  void run(std::int64_t calls) {
    calls_ = calls;
    begin_.arrive_and_wait();
    increment(0, calls - lost_);
    end_.arrive_and_wait();
    expected_ += calls * threads_;
  }

  /// The check has no tolerance: no increment may be lost, by any call so far.
  Check verify() const {
    std::int64_t sum = 0;
    for (const AtomicCounter& counter : counters_) sum += counter.value.load();
    return {"lost increments", std::abs(static_cast<double>(expected_ - sum)), 0.0};
  }

 private:
  void work(int thread) {
    for (;;) {
      begin_.arrive_and_wait();
      if (stop_) return;
      increment(thread, calls_);
      end_.arrive_and_wait();
    }
  }

  void increment(int thread, std::int64_t count) {
    auto& value = counters_[static_cast<std::size_t>(thread) % counters_.size()].value;
    for (std::int64_t i = 0; i < count; ++i) value.fetch_add(1, std::memory_order_relaxed);
  }

  const int threads_;
  const std::int64_t lost_;
  std::vector<AtomicCounter> counters_;
  std::int64_t calls_ = 0, expected_ = 0;
  bool stop_ = false;
  std::barrier<> begin_, end_;
  std::vector<std::jthread> workers_;  // last, so that they are joined before what they use goes
};

void measure_increments(State& state, const std::string& counters, int threads) {
  const Json params = {{"counters", counters}, {"threads", threads}};
  const bool shared = counters == "shared";
  if (shared && threads < 2)
    return state.skip_series("throughput", params, "contention needs at least two threads");
  Incrementers incrementers(threads, shared, state.integer("lost"));
  Measurement m;
  m.params = params;
  m.work = [&](std::int64_t calls) { incrementers.run(calls); };
  m.reports = {{.metric = "throughput", .amount = static_cast<double>(threads)}};
  m.verify = [&] { return incrementers.verify(); };
  m.threads = threads;
  state.measure(m);
}

void run_atomic_add(State& state) {
  if (state.device().kind() != "host") return state.skip("measures the host's processors only");
  for (const auto& counters : state.list<std::string>("counters"))
    for (const int threads : thread_counts(state)) measure_increments(state, counters, threads);
}

const Registration atomic_add_probe{"atomic_add", run_atomic_add};

}  // namespace
}  // namespace bench
