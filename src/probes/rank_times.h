// The time that each rank spent itself in each sample of a series. Series keep the slowest rank's;
// alongside them these show who comes last or takes long (results/localisation/straggler.h).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/record.h"
#include "probes/group.h"

namespace bench {

/// More values than this over all ranks are thinned to every k-th sample, but to no fewer samples
/// than kFewestRankTimes.
inline constexpr std::size_t kMostRankTimes = 20'000;
inline constexpr std::size_t kFewestRankTimes = 20;

/// The chunk "rank_times PARAMS" with the columns "sample" (its place in the series), "rank0",
/// "rank1", ...: seconds of whole samples, after the barrier, by each rank's own clock. On rank 0;
/// nothing elsewhere. Every rank calls it, with as many samples.
std::optional<Chunk> rank_times(Group& group, const Json& params, const std::vector<double>& own_s);

}  // namespace bench
