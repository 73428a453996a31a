// Differences between two hosts, or between a host and its profile.
#pragma once

#include <string>
#include <vector>

#include "results/verdicts/topology/shape.h"

namespace bench {

/// Most severe first.
enum class Severity {
  missing,     // fewer devices, less memory
  degraded,    // a narrower or slower link, a port that is down
  different,   // another part, or in another place
  version,     // other firmware, driver, kernel
  setting,     // another setting of the kernel
  extra,       // more than expected
  unreadable,  // could not be read
};
std::string_view to_string(Severity severity);

struct Difference {
  std::string path;
  Severity severity = Severity::different;
  Json expected = nullptr;
  Json found = nullptr;
  std::vector<std::string> devices = {};  // the deviating devices, if known
  std::string note = {};                  // from the profile, or what follows from the difference
  std::string against = {};               // "profile" or "majority"
  std::size_t alike = 0;                  // other hosts with the same value
};

/// Severity of `found` in place of `expected`.
Severity severity_of(const std::string& path, const Json& expected, const Json& found);

/// The difference at a path, with the devices whose label occurs too often.
Difference difference_at(const std::string& path, const Json& expected, const Shape& shape);

/// As text: "gpu/10de:20b0/count: 7, majority has 8 (node 1); same on 2 other hosts".
std::string difference_text(const Difference& difference);

/// A missing device lowers all counts of its group: keeps only the count and its location. Sorts
/// the rest by severity, then path.
void tidy(std::vector<Difference>& differences);

}  // namespace bench
