// Compares the hosts of a fleet with their profiles and with the majority of their kind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "results/run/run_records.h"
#include "results/verdicts/topology/difference.h"
#include "results/verdicts/topology/profile.h"
#include "results/verdicts/topology/shape.h"

namespace bench {

struct HostTopology {
  std::string host;
  Shape shape = {};
  std::string profile = {};  // its name; "" for none. Hosts with one profile are one kind
  std::string trouble = {};  // why probing failed, or what is wrong with the result
  bool probed = true;
  bool invalid = false;  // hwloc and the kernel disagree
};

/// differs: something deviates from its profile or the majority. unknown: the host could not be
/// probed, a compared value is unreadable, or there is no majority.
enum class HostMatch { same, differs, unknown };
std::string_view to_string(HostMatch match);

struct HostFindings {
  std::string host;
  std::string profile = {};
  std::string trouble = {};
  HostMatch match = HostMatch::same;
  bool compared = false;  // with a profile or a majority
  std::vector<Difference> differences = {};
  std::map<std::string, std::string> unreadable = {};  // path -> why
};

/// A path without a value shared by more than half of the hosts of a kind.
struct Undecided {
  std::string path;
  std::vector<std::pair<Json, std::vector<std::string>>> values;  // the most frequent first
};

/// Hosts with the same parts, links and locations; versions and settings may differ.
struct HostKind {
  std::vector<std::string> hosts;
  Shape shape;
};

struct FleetTopology {
  std::vector<HostFindings> hosts;
  std::vector<Undecided> undecided;
  std::vector<HostKind> kinds;           // the largest first
  std::vector<std::string> no_majority;  // why hosts were not compared with each other
};

/// Of two differing hosts either may be right.
inline constexpr std::size_t kFewestForMajority = 3;

/// `profiles`: by name; a host whose profile is missing is compared with the majority only.
FleetTopology compare_fleet(const std::vector<HostTopology>& hosts,
                            const std::map<std::string, Profile>& profiles);

/// failed if a host differs, else not_measured if one is unknown, else ok.
ExitCode exit_code_of(const FleetTopology& fleet);

/// Largest first, without hosts that could not be probed.
std::vector<HostKind> kinds_of(const std::vector<HostTopology>& hosts);

/// The topology of each host of the plan, in its order.
std::vector<HostTopology> topologies_of(const RunRecords& run);

}  // namespace bench
