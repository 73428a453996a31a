#include "probes/server/job_telemetry.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "core/fields.h"
#include "devices/counters/error_counters.h"
#include "devices/host_clock.h"

namespace bench {
namespace {

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

/// Signals are handled by the measuring thread.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

/// A rank is often pinned to the core it measures, and threads inherit that. The kernel removes the
/// processors that this process may not use.
void leave_the_core() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  sched_setaffinity(0, sizeof all, &all);
}

/// Seconds on a steady clock: the times of the recordings.
double telemetry_clock() { return steady_now().value; }

}  // namespace

struct SamplerThread::Shared {
  SourceFactory sources;
  RecorderSettings settings;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool ended = false;
  Telemetry telemetry;  // set when it has ended
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
  do {  // at least once: even the shortest job has a first and a last reading
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

namespace {

constexpr Seconds kLongerThanAnyJob{1e6};  // so that there are two readings, the first and the last
constexpr double kTimeGrains = 1e6;        // per second; more digits only make the record longer

/// The first finite value; 0 if there is none.
double first_known(const std::vector<double>& values) {
  const auto known =
      std::find_if(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  return known == values.end() ? 0.0 : *known;
}

/// {"time_s": [...], column: [...]}; times since `begin`, counters since their first reading.
Chunk to_chunk(const Recording& recording, double begin) {
  Json columns = Json::object();
  Json& times = columns["time_s"] = Json::array();
  for (const double time : recording.times)
    times.push_back(std::round((time - begin) * kTimeGrains) / kTimeGrains);
  for (std::size_t i = 0; i < recording.columns.size(); ++i) {
    const bool counts = recording.columns[i].kind == CounterColumn::counter;
    const double zero = counts ? first_known(recording.values[i]) : 0.0;
    Json& cells = columns[recording.columns[i].name] = Json::array();
    for (const double value : recording.values[i]) cells.push_back(number_or_null(value - zero));
  }
  return {"telemetry." + recording.source, columns};
}

}  // namespace

JobTelemetry::JobTelemetry(const TelemetrySettings& settings, Seconds now,
                           const SourceFactory& sources)
    : settings_(settings) {
  if (!settings.enabled && !settings.counters) return;
  begin_ = telemetry_clock();
  offset_ = begin_ - now.value;
  RecorderSettings recorder;
  if (settings.enabled) {
    recorder.period = Seconds{settings.period_s};
    sampler_ = std::make_unique<SamplerThread>(sources, recorder);
  } else {
    recorder.period = kLongerThanAnyJob;
    sampler_ =
        std::make_unique<SamplerThread>([sources] { return error_sources(sources()); }, recorder);
  }
}

std::vector<decltype(Record::body)> JobTelemetry::finish(const std::vector<Span>& spans) {
  std::vector<decltype(Record::body)> records;
  if (sampler_ == nullptr) return records;
  const Telemetry telemetry = sampler_->stop();
  sampler_.reset();
  if (settings_.counters)
    counters_ = telemetry.problem.empty()
                    ? counter_totals(telemetry.recordings, telemetry.wall.value)
                    : Json{{"problem", telemetry.problem}};
  if (!settings_.enabled) return records;
  std::vector<PhaseSpan> phases = {{"job", Json::object(), begin_, telemetry_clock()}};
  for (const Span& span : spans)
    phases.push_back(
        {span.phase, span.params, span.begin.value + offset_, span.end.value + offset_});
  for (const Recording& recording : telemetry.recordings)
    records.emplace_back(to_chunk(recording, begin_));
  records.emplace_back(Facts{"telemetry", summarise_job(telemetry, phases)});
  return records;
}

Json summarise_job(const Telemetry& telemetry, const std::vector<PhaseSpan>& spans) {
  if (!telemetry.problem.empty()) return {{"problem", telemetry.problem}};
  Json recordings = Json::object();
  for (const Recording& recording : telemetry.recordings)
    recordings[recording.source] = {{"period_s", recording.period.value},
                                    {"readings", recording.times.size()},
                                    {"late", recording.late}};
  // Of one core. The cost to the workload needs a comparison with telemetry off.
  return {{"cpu_s", telemetry.cpu.value},
          {"cpu_share", number_or_null(telemetry.cpu / telemetry.wall)},
          {"recordings", recordings},
          {"phases", summarise_phases(telemetry.recordings, spans)}};
}

}  // namespace bench
