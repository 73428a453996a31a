// Where two hosts, or a host and its profile, differ.
#pragma once

#include <string>
#include <vector>

#include "results/topology/shape.h"

namespace bench {

/// The gravest first.
enum class Severity {
  missing,     // fewer devices, less memory
  degraded,    // a narrower or slower link, a port that is down
  different,   // another part, or in another place
  version,     // other firmware, driver, kernel
  setting,     // another setting of the kernel
  extra,       // more than expected
  unreadable,  // nobody could tell
};
std::string_view to_string(Severity severity);

struct Difference {
  std::string path;
  Severity severity = Severity::different;
  Json expected = nullptr;
  Json found = nullptr;
  std::vector<std::string> devices = {};  // those that are not as expected, where it is known
  std::string note = {};                  // of the profile, or what went with it
  std::string against = {};               // "profile" or "majority"
  std::size_t alike = 0;                  // other hosts that have the same value
};

/// How grave it is that `found` stands where `expected` should.
Severity severity_of(const std::string& path, const Json& expected, const Json& found);

/// The difference at a path. Names the devices whose label is not expected so often.
Difference difference_at(const std::string& path, const Json& expected, const Shape& shape);

/// In words: "gpu/10de:20b0/count: 7, majority has 8 (node 1); same on 2 other hosts".
std::string difference_text(const Difference& difference);

/// A device that is missing is missing from all counts of its group: only the count is told, and
/// where it was. Sorts the rest by severity, then path.
void tidy(std::vector<Difference>& differences);

}  // namespace bench
