// TCP rendezvous: rank 0 listens until every rank of the group has connected. Nobody hangs: on
// timeout or error, all ranks report which rank is missing, duplicate or of another version.
#pragma once

#include <string>
#include <vector>

#include "core/descriptor.h"
#include "probes/backends/tcp/rendezvous.h"

namespace bench {

struct Peer {
  Descriptor socket;  // invalid for rank 0 itself
  std::string host;   // its own host name
};

/// On rank 0: the others, by rank. Foreign connections (a port scanner, a rank of another job) are
/// rejected. Throws Error(environment).
std::vector<Peer> accept_ranks(const Rendezvous& rendezvous);

/// On the others: rank 0. Throws Error(environment) if rank 0 refuses or cannot be reached.
Peer connect_to_root(const Rendezvous& rendezvous);

}  // namespace bench
