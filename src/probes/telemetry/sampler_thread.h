// A thread that reads counters while a job runs. It sleeps between readings, may run on any core,
// not only on that of the rank, and counts its own CPU time, so that what it costs is known. A
// source that never answers again costs the job nothing but its readings: the thread is left
// behind.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/units.h"
#include "probes/telemetry/recorder.h"

namespace bench {

/// What was seen between start and stop.
struct Telemetry {
  std::vector<Recording> recordings;
  Seconds wall;         // from start to stop
  Seconds cpu;          // of the sampler thread
  std::string problem;  // why there are no recordings; empty where there are
};

/// Seconds on a steady clock; the times of the recordings.
double telemetry_clock();

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

}  // namespace bench
