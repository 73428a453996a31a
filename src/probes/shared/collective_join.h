// Joining the ranks of a collective: how long it takes, over which paths, and whether those are the
// ones that were asked for.
#pragma once

#include "devices/collectives.h"
#include "probes/state.h"

namespace bench {

/// From the parameters isolation and network_card.
PathRequest path_request(State& state);

/// Joins the ranks `init_repeats` times and reports init_time, the slowest rank's. False, with the
/// job skipped, where they cannot be joined over such paths. Every rank calls it.
bool join_ranks(State& state, Collectives& collectives, const PathRequest& paths);

/// Says what the ranks were joined over, and makes the job invalid where that is not what was asked
/// for. Every rank calls it, after the operations: libraries connect when they first need to.
void tell_paths(State& state, Collectives& collectives, const PathRequest& paths);

}  // namespace bench
