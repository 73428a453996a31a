// What the counters did during each phase of a job, in a few numbers: the least, mean and greatest
// value of a gauge; the total and the rate of a counter; the energy behind a power. Phases and
// readings are joined by time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/json.h"
#include "devices/counters/recorder.h"

namespace bench {

/// A stretch of a job: which phase, of which series, on the recorder's clock.
struct PhaseSpan {
  std::string phase;             // "warm_up", "measure", "job"
  Json params = Json::object();  // of the series; empty for the whole job
  double begin = 0.0;
  double end = 0.0;
};

/// How much a counter grew from each reading to the next; one less than the values. One that ran
/// over (column.wraps_at) is put right; where it was reset or could not be read it is NaN, never
/// negative.
std::vector<double> growth(const CounterColumn& column, const std::vector<double>& values);

/// {"name": {"unit", "n", "min", "mean", "max", ...}} of one recording within the spans. Gauges:
/// of the readings that lie inside, "energy_j" alongside watts. Counters: "total" and per second;
/// an interval that lies partly inside counts by its part. Gauges that are sets of bits: "shares",
/// how often each bit was set. n is 0 and the rest null where the spans are shorter than the time
/// between readings.
Json summarise(const Recording& recording, const std::vector<PhaseSpan>& spans);

/// One entry for each phase and series, [{"phase", "params", "seconds", "sources": {...}}], at most
/// `most`: the job's whole, and then in their order.
Json summarise_phases(const std::vector<Recording>& recordings, const std::vector<PhaseSpan>& spans,
                      std::size_t most = 64);

}  // namespace bench
