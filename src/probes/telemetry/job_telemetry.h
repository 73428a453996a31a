// Telemetry of one job: started before the probe runs, and turned into records after it. One rank
// on a host does it for all.
#pragma once

#include <memory>
#include <vector>

#include "core/job.h"
#include "core/record.h"
#include "probes/state.h"
#include "probes/telemetry/sampler_thread.h"
#include "probes/telemetry/summary.h"

namespace bench {

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

/// {"time_s": [...], column: [...]}; times since `begin`, counters since their first reading.
Chunk to_chunk(const Recording& recording, double begin);

/// What the job's telemetry comes to: its cost, and the phases.
Json summarise_job(const Telemetry& telemetry, const std::vector<PhaseSpan>& spans);

}  // namespace bench
