// A host with ranks of a job, as the launcher needs it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace bench {

struct Place {
  std::string host;     // name in the inventory
  std::string address;  // how to reach it
  int ranks = 1;
  int slots = 1;     // ranks without oversubscription
  bool here = true;  // this machine
};

/// Slots per rank with binding "share": equal on all hosts, at least one.
inline int share_of(const std::vector<Place>& places) {
  int share = 1 << 20;
  for (const Place& place : places) share = std::min(share, std::max(1, place.slots / place.ranks));
  return share;
}

}  // namespace bench
