// The choice among ways to compute the same: by time, in turns.
#pragma once

#include <cstddef>
#include <functional>

namespace bench {

/// The index below `count` with the smallest median of `rounds` timings, an even number; the first
/// of equals, 0 of none. Candidates take turns, every other round backwards, so that a clock that
/// falls while the chip warms up slows all of them alike. After two rounds those that took more
/// than a tenth longer than the best are left out.
std::size_t fastest(std::size_t count, int rounds,
                    const std::function<double(std::size_t)>& seconds_of);

}  // namespace bench
