// What the ranks of a process say of themselves before their first job, held against what was
// asked for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/record.h"
#include "core/units.h"
#include "runner/launch/place.h"

namespace bench {

/// A clock that is further off than this is named. What a record needs to arrive looks like a clock
/// that is late, so the bound is far above that.
inline constexpr Seconds kWrongClock{10.0};

struct Introduction {
  std::string version;                          // of rank 0's program
  std::map<std::string, std::string> versions;  // by host, as it calls itself
  std::map<std::string, Seconds> clocks;        // how far each host's is ahead of ours
};

/// `program`: the record with the facts of that topic; whatever is missing there is "unknown".
/// `now_ns`: when it came.
Introduction read_introduction(const Record& program, std::int64_t now_ns);

struct Misfit {
  std::string reason;              // "" for none
  std::vector<std::string> hosts;  // of `places`: whose program is of another version
};

/// Ranks of another version than `ours`, or on other hosts than `places`. `program`: its path.
Misfit misfit_of(const Introduction& said, const std::vector<Place>& places,
                 const std::string& program, const std::string& ours);

/// What a host whose clock is wrong is to be told of; null for one that is right.
Json clock_facts(Seconds ahead);

}  // namespace bench
