// Telemetry of one job: started before the probe runs, and turned into records after it, by one
// rank for all ranks of a host.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/job.h"
#include "core/record.h"
#include "core/units.h"
#include "devices/counters/recorder.h"
#include "devices/counters/summary.h"
#include "probes/state.h"

namespace bench {

/// The recordings between start and stop.
struct Telemetry {
  std::vector<Recording> recordings;
  Seconds wall;         // from start to stop
  Seconds cpu;          // of the sampler thread
  std::string problem;  // why there are no recordings; else empty
};

/// A thread that reads counters while a job runs. It may run on any core, not only on that of the
/// rank, and measures its own CPU time. If a source hangs, the job only loses the readings: the
/// thread is abandoned.
class SamplerThread {
 public:
  /// The thread calls `sources` itself, because opening them may hang as well.
  explicit SamplerThread(SourceFactory sources, const RecorderSettings& settings = {});
  ~SamplerThread();
  SamplerThread(const SamplerThread&) = delete;
  SamplerThread& operator=(const SamplerThread&) = delete;

  /// Reads all sources once more and ends. Returns within `patience` even if a source hangs; then
  /// the telemetry only has a problem.
  Telemetry stop(Seconds patience = Seconds{2.0});

 private:
  struct Shared;
  static bool stopping(Shared& shared);
  static std::vector<Recording> record(Shared& shared);
  static void run(Shared& shared);

  std::shared_ptr<Shared> shared_;  // the thread shares it, because it may be abandoned
  double started_;
  std::thread thread_;
};

class JobTelemetry {
 public:
  /// Starts if the job requests it. `now` is the current time of the device's clock, which the
  /// spans use.
  JobTelemetry(const TelemetrySettings& settings, Seconds now, const SourceFactory& sources);

  /// One chunk per source and the facts "telemetry", a summary of each phase of each series. Empty
  /// if telemetry is off. Call once.
  std::vector<decltype(Record::body)> finish(const std::vector<Span>& spans);

  /// The totals of the error counters (counter_totals), or {"problem": why}; null if not requested.
  /// After finish().
  const Json& counters() const { return counters_; }

 private:
  TelemetrySettings settings_;
  Json counters_;
  double offset_ = 0.0;  // from the device's clock to the sampler's
  double begin_ = 0.0;   // on the sampler's clock
  std::unique_ptr<SamplerThread> sampler_;
};

/// A summary of the job's telemetry: its cost, and the phases.
Json summarise_job(const Telemetry& telemetry, const std::vector<PhaseSpan>& spans);

}  // namespace bench
