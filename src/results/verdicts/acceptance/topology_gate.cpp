// Checks each host against its profile: a difference fails it; an unreadable or missing fact leaves
// it inconclusive.
#include <algorithm>

#include "core/text.h"
#include "results/verdicts/acceptance/gate_context.h"
#include "results/verdicts/topology/fleet.h"

namespace bench {
namespace {

/// The first topology result of each host.
std::map<std::string, Shape> shapes_of(const std::vector<RunRecords>& runs) {
  std::map<std::string, Shape> shapes;
  for (const RunRecords& run : runs)
    for (HostTopology& host : topologies_of(run))
      if (host.probed) shapes.try_emplace(host.host, std::move(host.shape));
  return shapes;
}

}  // namespace

void judge_topology(GateContext& context) {
  if (context.settings.profiles.empty()) return;
  const auto shapes = shapes_of(context.records);
  for (const auto& [host, profile] : context.settings.profiles) {
    const auto shape = shapes.find(host);
    if (shape == shapes.end()) {
      context.add_reason(host, Verdict::inconclusive, "topology", "profile",
                         "not checked against profile " + profile.name + ": no topology result",
                         "use a suite with the topology probe");
      continue;
    }
    for (const Difference& one : compare(profile, shape->second)) {
      const bool unknown = one.severity == Severity::unreadable;
      context.add_reason(host, unknown ? Verdict::inconclusive : Verdict::fail, "topology",
                         one.path,
                         std::string(to_string(one.severity)) + ": " + difference_text(one),
                         unknown ? "run as a user with read access, or ignore it in the profile"
                                 : "fix the host, or the profile if this is what was ordered");
    }
  }
}

}  // namespace bench
