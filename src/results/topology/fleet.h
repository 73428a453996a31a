// The hosts of a fleet beside each other: each against its profile and against what most of its
// kind have.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "results/run_records.h"
#include "results/topology/difference.h"
#include "results/topology/profile.h"
#include "results/topology/shape.h"

namespace bench {

struct HostTopology {
  std::string host;
  Shape shape = {};
  std::string profile = {};  // its name; "" for none. Hosts of one profile are one kind
  std::string trouble = {};  // why it could not be asked, or what was wrong with the answer
  bool probed = true;
  bool invalid = false;  // library and kernel tell of different machines
};

/// differs: something is not as its profile or the majority has it. unknown: it could not be asked,
/// or what had to be compared could not be read, or nobody can say who of several is right.
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

/// A path of which no value is that of more than half of the hosts of a kind.
struct Undecided {
  std::string path;
  std::vector<std::pair<Json, std::vector<std::string>>> values;  // the most frequent first
};

/// Hosts whose parts, links and places are the same; versions and settings may differ.
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

/// A majority takes three hosts: of two that differ nobody knows which is right.
inline constexpr std::size_t kFewestForMajority = 3;

/// `profiles`: by name; of a host whose profile is not among them only the majority is asked.
FleetTopology compare_fleet(const std::vector<HostTopology>& hosts,
                            const std::map<std::string, Profile>& profiles);

/// failed when a host differs; else not_measured when of one it is unknown; else ok.
ExitCode exit_code_of(const FleetTopology& fleet);

/// The largest first; hosts that could not be asked are of none.
std::vector<HostKind> kinds_of(const std::vector<HostTopology>& hosts);

/// What a run tells of each host of its plan, in the order of the plan.
std::vector<HostTopology> topologies_of(const RunRecords& run);

}  // namespace bench
