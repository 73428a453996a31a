// Is each host what its profile says? What differs fails it; what nobody could read, or nobody
// asked, keeps it open.
#include <algorithm>

#include "core/text.h"
#include "results/acceptance/hearing.h"
#include "results/topology/fleet.h"

namespace bench {
namespace {

/// The first answer of each host.
std::map<std::string, Shape> shapes_of(const std::vector<RunRecords>& runs) {
  std::map<std::string, Shape> shapes;
  for (const RunRecords& run : runs)
    for (HostTopology& host : topologies_of(run))
      if (host.asked) shapes.try_emplace(host.host, std::move(host.shape));
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
                    "it is not known whether it is what profile " + profile.name + " says",
                    "a suite with the probe topology");
      continue;
    }
    for (const Difference& one : compare(profile, shape->second)) {
      const bool unknown = one.severity == Severity::unreadable;
      context.add_reason(host, unknown ? Verdict::inconclusive : Verdict::fail, "topology", one.path,
                    std::string(to_string(one.severity)) + ": " + difference_text(one),
                    unknown ? "run as a user who may read it, or ignore it in the profile"
                            : "mend the host, or the profile where that is what was bought");
    }
  }
}

}  // namespace bench
