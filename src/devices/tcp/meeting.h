// TCP rendezvous: rank 0 listens until every rank of the group has connected, and each proves to
// the other that it knows the group's secret (handshake.h). Nobody hangs: on timeout or error, all
// ranks report which rank is missing, duplicate or of another version.
#pragma once

#include <string>
#include <vector>

#include "core/descriptor.h"
#include "devices/tcp/rendezvous.h"

namespace bench {

struct Peer {
  Descriptor socket;  // invalid for rank 0 itself
  std::string host;   // its own host name
  // Of the frames in each direction (frame.h).
  std::string send_key = {};
  std::string receive_key = {};
};

/// On rank 0: the others, by rank. Strangers (a port scanner, a rank of another job) are rejected
/// and displace nobody, however many they are. Throws Error(environment).
std::vector<Peer> accept_ranks(const Rendezvous& rendezvous);

/// On the others: rank 0. Throws Error(environment) if rank 0 refuses, cannot be reached or cannot
/// prove itself.
Peer connect_to_root(const Rendezvous& rendezvous);

}  // namespace bench
