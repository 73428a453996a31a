#include "probes/telemetry/sampler_thread.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>

namespace bench {
namespace {

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

Seconds thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return {static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)};
}

/// Signals are the business of the thread that measures.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

double telemetry_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct SamplerThread::Shared {
  Shared(CounterSources sources, const RecorderSettings& settings)
      : recorder(std::move(sources), settings) {}

  Recorder recorder;  // the thread's alone until it has ended
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool ended = false;
  Seconds cpu;
};

SamplerThread::SamplerThread(CounterSources sources, const RecorderSettings& settings)
    : shared_(std::make_shared<Shared>(std::move(sources), settings)), started_(telemetry_clock()) {
  thread_ = std::thread([shared = shared_] { run(shared); });
}

SamplerThread::~SamplerThread() {
  if (shared_ != nullptr) stop();
}

bool SamplerThread::stopping(Shared& shared) {
  const std::lock_guard lock(shared.mutex);
  return shared.stopping;
}

void SamplerThread::run(const std::shared_ptr<Shared>& shared) {
  block_signals();
  std::unique_lock lock(shared->mutex, std::defer_lock);
  do {  // once in any case: the shortest job has a first and a last reading
    shared->recorder.tick(telemetry_clock());
    const double wait = std::clamp(shared->recorder.next_due() - telemetry_clock(), 0.0, 3600.0);
    lock.lock();
    shared->changed.wait_for(lock, nanoseconds(wait), [&] { return shared->stopping; });
    lock.unlock();
  } while (!stopping(*shared));
  shared->recorder.tick_all(telemetry_clock());
  lock.lock();
  shared->cpu = thread_cpu_time();
  shared->ended = true;
  shared->changed.notify_all();
}

Telemetry SamplerThread::stop(Seconds patience) {
  Telemetry telemetry;
  if (shared_ == nullptr) return telemetry;
  const std::shared_ptr<Shared> shared = std::move(shared_);
  std::unique_lock lock(shared->mutex);
  shared->stopping = true;
  shared->changed.notify_all();
  telemetry.stuck =
      !shared->changed.wait_for(lock, nanoseconds(patience.value), [&] { return shared->ended; });
  telemetry.wall = {telemetry_clock() - started_};
  lock.unlock();
  if (telemetry.stuck) {
    thread_.detach();  // it hangs in a driver
    return telemetry;
  }
  thread_.join();
  telemetry.recordings = shared->recorder.recordings();
  telemetry.cpu = shared->cpu;
  return telemetry;
}

}  // namespace bench
