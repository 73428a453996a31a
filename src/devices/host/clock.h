// The clock of a core, from chains of instructions of which each needs the result of the one
// before: cycles that nothing can hide, divided by the time they took.
//
// Traps met: newer Intel cores fold a chain of `add $1` while renaming it and read 18 GHz, so the
// chains here add and multiply registers. And a core runs heavy vector code at a lower clock and
// leaves that clock within microseconds of scalar code: 4.1 GHz were read behind a product that ran
// at 3.4. vector_clock() therefore uses a chain of multiply-adds as wide as the code's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "devices/instructions.h"

namespace bench {

/// A chain, how long one step of it takes, and how to walk it. `result` is a pure function of the
/// number of steps, so that a walk that did not happen is found.
struct ClockWalk {
  ClockChain chain;
  std::uint64_t (*walk)(std::int64_t steps) = nullptr;  // steps: a multiple of kChainUnroll
  std::uint64_t (*expected)(std::int64_t steps) = nullptr;
};
inline constexpr std::int64_t kChainUnroll = 16;

/// Two chains of different length: they must agree on the clock. Empty on an unknown architecture.
const std::vector<ClockWalk>& host_chains();

/// The calling core's clock just now, from some ten microseconds of a dependent chain; nothing
/// where we have no chain of known latency.
std::optional<Hertz> core_clock();

/// The calling core's clock while it runs code of an instruction family ("avx2", "avx512", "amx";
/// the widest vectors for ""), from some microseconds right behind it; the plain clock where cores
/// have only one.
std::optional<Hertz> vector_clock(const std::string& isa);

/// The same from a chain for every family, tiles too: right only within a few microseconds of such
/// code. The fastest of `walks` walks of two microseconds each.
std::optional<Hertz> chain_clock(const std::string& isa, int walks);

}  // namespace bench
