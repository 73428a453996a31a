#include "probes/telemetry/sampler_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "probes/host_clock.h"

namespace bench {
namespace {

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

/// Signals are the business of the thread that measures.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

/// A rank is often pinned to the core it measures with, and threads inherit that. The kernel takes
/// away what this process may not use.
void leave_the_core() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  sched_setaffinity(0, sizeof all, &all);
}

}  // namespace

double telemetry_clock() { return steady_now().value; }

struct SamplerThread::Shared {
  SourceFactory sources;
  RecorderSettings settings;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool ended = false;
  Telemetry telemetry;  // when it has ended
};

SamplerThread::SamplerThread(SourceFactory sources, const RecorderSettings& settings)
    : shared_(std::make_shared<Shared>()), started_(telemetry_clock()) {
  shared_->sources = std::move(sources);
  shared_->settings = settings;
  thread_ = std::thread([shared = shared_] { run(*shared); });
}

SamplerThread::~SamplerThread() {
  if (shared_ != nullptr) stop();
}

bool SamplerThread::stopping(Shared& shared) {
  const std::lock_guard lock(shared.mutex);
  return shared.stopping;
}

std::vector<Recording> SamplerThread::record(Shared& shared) {
  Recorder recorder(shared.sources(), shared.settings);
  std::unique_lock lock(shared.mutex, std::defer_lock);
  do {  // once in any case: the shortest job has a first and a last reading
    recorder.tick(telemetry_clock());
    const double wait = std::clamp(recorder.next_due() - telemetry_clock(), 0.0, 3600.0);
    lock.lock();
    shared.changed.wait_for(lock, nanoseconds(wait), [&] { return shared.stopping; });
    lock.unlock();
  } while (!stopping(shared));
  recorder.tick_all(telemetry_clock());
  return recorder.recordings();
}

void SamplerThread::run(Shared& shared) {
  block_signals();
  leave_the_core();
  std::vector<Recording> recordings;
  std::string problem;
  try {
    recordings = record(shared);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  const std::lock_guard lock(shared.mutex);
  shared.telemetry = {std::move(recordings), {}, cpu_time_of(CLOCK_THREAD_CPUTIME_ID), problem};
  shared.ended = true;
  shared.changed.notify_all();
}

Telemetry SamplerThread::stop(Seconds patience) {
  if (shared_ == nullptr) return {};
  const std::shared_ptr<Shared> shared = std::move(shared_);
  std::unique_lock lock(shared->mutex);
  shared->stopping = true;
  shared->changed.notify_all();
  const bool ended =
      shared->changed.wait_for(lock, nanoseconds(patience.value), [&] { return shared->ended; });
  Telemetry telemetry;
  if (ended)
    telemetry = std::move(shared->telemetry);
  else
    telemetry.problem = "a counter source did not return, the driver may hang; telemetry discarded";
  telemetry.wall = {telemetry_clock() - started_};
  lock.unlock();
  if (ended)
    thread_.join();
  else
    thread_.detach();  // it hangs in a driver
  return telemetry;
}

}  // namespace bench
