// Where some ranks of a job run: one host, as the launcher needs to know it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace bench {

struct Place {
  std::string host;     // its name in the inventory
  std::string address;  // how to reach it
  int ranks = 1;
  int slots = 1;     // ranks it takes without oversubscription
  bool here = true;  // the machine we run on
};

/// Slots for each rank where the binding is "share": as many on every host, at least one.
inline int share_of(const std::vector<Place>& places) {
  int share = 1 << 20;
  for (const Place& place : places) share = std::min(share, std::max(1, place.slots / place.ranks));
  return share;
}

}  // namespace bench
