// Overlap of communication and computation: a collective alone, GEMMs alone, and both at once.
#pragma once

#include <cstdint>

#include "probes/state.h"

namespace bench {

/// Calls of each side so that both take about the same time.
struct OverlapCalls {
  std::int64_t communications = 1;
  std::int64_t computations = 1;
};

/// From the seconds of one call of each; each side then takes at least `least_s`. With unequal
/// sides the ratio would depend on the shorter one more than on the machine.
OverlapCalls balance(double communication_s, double computation_s, double least_s);

struct OverlapSeconds {
  double communication = 0.0;
  double computation = 0.0;
  double both = 0.0;
};

/// (communication + computation - both) / the shorter one: 1 if the shorter one is hidden entirely,
/// 0 if they run one after the other. Below 0 they slow each other down; noise can raise it
/// above 1.
double overlap_ratio(const OverlapSeconds& seconds);

/// Measures it with the job's parameters op, message_bytes, message_dtype, dtype, shape, threads.
/// Every rank calls it.
void measure_overlap(State& state);

}  // namespace bench
