// How ranks find each other: rank 0 listens until every rank of the group has greeted it, the
// others connect to it. Nobody hangs: who is missing, double or of another version is named on all
// ranks when the time is up or the fault is seen.
#pragma once

#include <string>
#include <vector>

#include "core/descriptor.h"
#include "probes/backends/tcp/rendezvous.h"

namespace bench {

struct Member {
  Descriptor socket;  // invalid for rank 0 itself
  std::string host;   // as it calls itself
};

/// At rank 0: the others, by rank. Strangers (a port scanner, a rank of another job) are turned
/// away and do not disturb. Throws Error(environment).
std::vector<Member> receive_ranks(const Rendezvous& rendezvous);

/// At the others: rank 0. Throws Error(environment) with what rank 0 has against us, or why it
/// cannot be reached.
Member join_rank_0(const Rendezvous& rendezvous);

}  // namespace bench
