// The control plane of ranks that no MPI has joined: a star over TCP with rank 0 in its middle.
// When a rank dies, the others learn in their next operation which one it was.
#pragma once

#include <memory>

#include "probes/backends/tcp/rendezvous.h"
#include "probes/group.h"

namespace bench {

/// Returns when all ranks have come. Throws Error(environment) as probes/backends/tcp/meeting.h
/// says. Operations throw Error(environment) naming the rank that left, or that is in another
/// operation than rank 0.
std::unique_ptr<Group> make_tcp_group(const Rendezvous& rendezvous);

}  // namespace bench
