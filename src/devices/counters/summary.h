// Counters per phase of a job: minimum, mean and maximum of gauges; total and rate of counters;
// energy of powers. Phases and readings are matched by time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/json.h"
#include "devices/counters/recorder.h"

namespace bench {

/// A period of a job on the clock of the recorder.
struct PhaseSpan {
  std::string phase;             // "warm_up", "measure", "job"
  Json params = Json::object();  // of the series; empty for the whole job
  double begin = 0.0;
  double end = 0.0;
};

/// Growth between consecutive readings, corrected for overflow (column.wraps_at); NaN if the
/// counter was reset or could not be read, never negative.
std::vector<double> growth(const CounterColumn& column, const std::vector<double>& values);

/// {"name": {"unit", "n", "min", "mean", "max", ...}} of a recording within the spans. Gauges: of
/// the readings inside, with "energy_j" for watts. Counters: "total" and rates; intervals partly
/// inside count proportionally. Bit sets: "shares" of the readings with each bit set. n is 0 and
/// the rest null if the spans are shorter than the period.
Json summarise(const Recording& recording, const std::vector<PhaseSpan>& spans);

/// One entry per phase and series, in order and at most `most`, the first for the whole job:
/// [{"phase", "params", "seconds", "sources": {...}}].
Json summarise_phases(const std::vector<Recording>& recordings, const std::vector<PhaseSpan>& spans,
                      std::size_t most = 64);

}  // namespace bench
