// Control plane of ranks without MPI: a TCP star with rank 0 in the centre.
// When a rank dies, the others fail in their next operation and name it.
#pragma once

#include <memory>

#include "devices/group.h"
#include "devices/tcp/rendezvous.h"

namespace bench {

/// Returns when all ranks have joined. Throws Error(environment), see meeting.h. Operations throw
/// Error(environment) naming the rank that left, or that is in another operation than rank 0.
std::unique_ptr<Group> make_tcp_group(const Rendezvous& rendezvous);

}  // namespace bench
