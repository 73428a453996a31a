#include "probes/backends/mpi/host_overlap.h"

#include <utility>

#include "probes/host_clock.h"

namespace bench {

HostOverlap::HostOverlap() : thread_([this] { serve(); }) {}

HostOverlap::~HostOverlap() {
  turn_ = Turn::end;
  turn_.notify_all();
  thread_.join();
}

void HostOverlap::serve() {
  for (;;) {
    turn_.wait(Turn::caller);
    if (turn_ == Turn::end) return;
    const Seconds begin = steady_now();
    try {
      (*work_)();
    } catch (...) {
      failure_ = std::current_exception();
    }
    took_ = steady_now() - begin;
    turn_ = Turn::caller;
    turn_.notify_all();
  }
}

void HostOverlap::start(const std::function<void()>& work) {
  failure_ = nullptr;  // one of an earlier turn has been told, or gave way to the caller's own
  work_ = &work;
  turn_ = Turn::thread;
  turn_.notify_all();
}

void HostOverlap::wait() { turn_.wait(Turn::thread); }

void HostOverlap::beside(const std::function<void()>& work) {
  start(work);
  wait();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void HostOverlap::together(const std::function<void()>& communicate,
                           const std::function<void()>& compute) {
  parts_ = {};
  if (compute) start(compute);
  const Seconds begin = steady_now();
  try {
    if (communicate) communicate();
  } catch (...) {
    wait();  // the computation uses what belongs to the caller
    throw;
  }
  if (communicate) parts_.communication = steady_now() - begin;
  wait();
  if (compute) parts_.computation = took_;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace bench
