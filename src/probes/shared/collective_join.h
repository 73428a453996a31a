// Joins the ranks of a collective, measures how long that takes, and verifies the paths used
// against the requested ones.
#pragma once

#include "devices/collectives.h"
#include "probes/state.h"

namespace bench {

/// From the parameters isolation and network_card.
PathRequest path_request(State& state);

/// Joins the ranks `init_repeats` times and reports init_time of the slowest rank. If they cannot
/// be joined over such paths, skips the job and returns false. Every rank calls it.
bool join_ranks(State& state, Collectives& collectives, const PathRequest& paths);

/// Reports the paths used, and makes the job invalid if they are not the requested ones. Every rank
/// calls it, after the operations: libraries connect on first use.
void report_paths(State& state, Collectives& collectives, const PathRequest& paths);

}  // namespace bench
