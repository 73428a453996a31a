// The clock of a core from chains of dependent instructions: a known number of cycles divided by
// their duration.
//
// Pitfalls: newer Intel cores fold a chain of `add $1` at rename and read 18 GHz, so these chains
// add and multiply registers. And cores run heavy vector code at a lower clock, which they leave
// within microseconds of scalar code: 4.1 GHz were read after a GEMM that ran at 3.4.
// vector_clock() therefore uses a chain of multiply-adds as wide as the code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "devices/instructions.h"

namespace bench {

/// A chain, the duration of a step, and how to run it. `expected` gives the result for a number of
/// steps, so that skipped runs are detected.
struct ClockWalk {
  ClockChain chain;
  std::uint64_t (*walk)(std::int64_t steps) = nullptr;  // steps: a multiple of kChainUnroll
  std::uint64_t (*expected)(std::int64_t steps) = nullptr;
};
inline constexpr std::int64_t kChainUnroll = 16;

/// Two chains of different latency, which must agree on the clock. Empty on an unknown
/// architecture.
const std::vector<ClockWalk>& host_chains();

/// The current clock of the calling core, from about 10 us of a dependent chain; nothing without a
/// chain of known latency.
std::optional<Hertz> core_clock();

/// The clock of the calling core while it runs code of an instruction set ("avx2", "avx512", "amx";
/// "": the widest vectors), measured within microseconds after such code; the plain clock if cores
/// have only one.
std::optional<Hertz> vector_clock(const std::string& isa);

/// The same from a chain for every instruction set, tiles included: valid only within a few
/// microseconds after such code. The fastest of `walks` runs of 2 us each.
std::optional<Hertz> chain_clock(const std::string& isa, int walks);

}  // namespace bench
