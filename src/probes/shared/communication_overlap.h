// Communication under computation: a collective alone, products alone, and both at once.
#pragma once

#include <cstdint>

#include "probes/state.h"

namespace bench {

/// How often each side is done so that both take about equally long.
struct OverlapCalls {
  std::int64_t communications = 1;
  std::int64_t computations = 1;
};

/// From the seconds of one call of each; each side then takes at least `least_s`. Unequal sides
/// would say more about the shorter one than about the machine.
OverlapCalls balance(double communication_s, double computation_s, double least_s);

struct OverlapSeconds {
  double communication = 0.0;
  double computation = 0.0;
  double both = 0.0;
};

/// (communication + computation - both) / the shorter one: 1 where the shorter one costs nothing, 0
/// where they come one after the other. Below 0 they disturb each other; noise can lift it above 1.
double overlap_ratio(const OverlapSeconds& seconds);

/// Measures it with the job's parameters op, message_bytes, message_dtype, dtype, shape, threads.
/// Every rank calls it.
void measure_overlap(State& state);

}  // namespace bench
