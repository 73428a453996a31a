// The handshake of a rank process: versions, hosts and clocks, checked before the first job.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/record.h"
#include "core/units.h"
#include "runner/launch/place.h"

namespace bench {

/// Clock offsets above this are reported. Record latency looks like an offset, so the limit is far
/// above it.
inline constexpr Seconds kWrongClock{10.0};

struct Handshake {
  std::string version;                          // of rank 0's program
  std::map<std::string, std::string> versions;  // by reported host name
  std::map<std::string, Seconds> clocks;        // by host: offset from this host's clock
};

/// `program`: the record with the "program" facts; missing values become "unknown". `now_ns`: time
/// of receipt.
Handshake read_handshake(const Record& program, std::int64_t now_ns);

struct VersionMismatch {
  std::string reason;              // "" for none
  std::vector<std::string> hosts;  // places with another version
};

/// Finds ranks with another version than `ours`, or on other hosts than `places`. `program`: its
/// path.
VersionMismatch find_mismatch(const Handshake& handshake, const std::vector<Place>& places,
                              const std::string& program, const std::string& ours);

/// A warning about a wrong clock; null for a correct one.
Json clock_facts(Seconds ahead);

}  // namespace bench
