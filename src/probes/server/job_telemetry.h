// Telemetry of one job: started before the probe runs, and turned into records after it. One rank
// on a host does it for all.
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

// A thread that reads counters while a job runs. It sleeps between readings, may run on any core,
// not only on that of the rank, and counts its own CPU time, so that what it costs is known. A
// source that never answers again costs the job nothing but its readings: the thread is left
// behind.

/// What was seen between start and stop.
struct Telemetry {
  std::vector<Recording> recordings;
  Seconds wall;         // from start to stop
  Seconds cpu;          // of the sampler thread
  std::string problem;  // why there are no recordings; empty where there are
};

class SamplerThread {
 public:
  /// The thread calls `sources` itself, because finding them may hang as well.
  explicit SamplerThread(SourceFactory sources, const RecorderSettings& settings = {});
  ~SamplerThread();
  SamplerThread(const SamplerThread&) = delete;
  SamplerThread& operator=(const SamplerThread&) = delete;

  /// Reads all sources once more and ends. Returns within `patience` even when a source hangs; the
  /// telemetry is then empty and says so.
  Telemetry stop(Seconds patience = Seconds{2.0});

 private:
  struct Shared;
  static bool stopping(Shared& shared);
  static std::vector<Recording> record(Shared& shared);
  static void run(Shared& shared);

  std::shared_ptr<Shared> shared_;  // the thread has its own hold on it, should it be left behind
  double started_;
  std::thread thread_;
};

class JobTelemetry {
 public:
  /// Starts to read, where the job asks for it. `now` is the device's clock at this moment, which
  /// the spans are told in.
  JobTelemetry(const TelemetrySettings& settings, Seconds now, const SourceFactory& sources);

  /// One chunk for each source and the facts "telemetry", a summary of each phase of each series.
  /// Nothing where it is off. Call once.
  std::vector<decltype(Record::body)> finish(const std::vector<Span>& spans);

  /// What the counters of errors came to (counter_totals), or {"problem": why}; null where nobody
  /// asked. After finish().
  const Json& counters() const { return counters_; }

 private:
  TelemetrySettings settings_;
  Json counters_;
  double offset_ = 0.0;  // from the device's clock to the sampler's
  double begin_ = 0.0;   // on the sampler's clock
  std::unique_ptr<SamplerThread> sampler_;
};

/// What the job's telemetry comes to: its cost, and the phases.
Json summarise_job(const Telemetry& telemetry, const std::vector<PhaseSpan>& spans);

}  // namespace bench
