#include "probes/shared/collective_join.h"

#include <vector>

#include "core/error.h"

namespace bench {
namespace {

struct Joined {
  double seconds = 0.0;
  std::string obstacle;
};

/// Requested paths may be unavailable here; without a request a failure is an error.
Joined join_once(State& state, Collectives& collectives, const PathRequest& paths) {
  Joined joined;
  collectives.disconnect();
  state.group().barrier();
  const Seconds begin = state.device().now();
  try {
    collectives.connect(paths);
  } catch (const Error& error) {
    if (paths == PathRequest{}) throw;
    joined.obstacle = error.what();
  }
  joined.seconds = largest(state.group(), (state.device().now() - begin).value);
  joined.obstacle = agreed(state.group(), joined.obstacle);
  return joined;
}

void report(State& state, const std::string& which, std::vector<double> seconds) {
  if (seconds.empty()) return;
  state.values("init_time", std::move(seconds), {{"communicator", which}}, "max");
}

UsedPaths paths_of_all(Group& group, const UsedPaths& own) {
  UsedPaths all = own;
  for (const Json& one : gather_json(group, to_json(own))) all.merge(used_paths_from_json(one));
  return all;
}

}  // namespace

PathRequest path_request(State& state) {
  const PathRequest asked{isolation_from(state.text("isolation")), state.text("network_card")};
  return state.device().kind() == "cuda" ? on_own_rail(asked) : asked;
}

bool join_ranks(State& state, Collectives& collectives, const PathRequest& paths) {
  std::string reason = agreed(state.group(), collectives.path_obstacle(paths));
  std::vector<double> first, next;
  for (std::int64_t i = 0; reason.empty() && i < state.integer("init_repeats"); ++i) {
    std::vector<double>& kind = collectives.connections() == 0 ? first : next;
    const Joined joined = join_once(state, collectives, paths);
    kind.push_back(joined.seconds);
    reason = joined.obstacle;
  }
  if (!reason.empty()) {
    state.skip("unavailable transport: " + reason);
    return false;
  }
  report(state, "first", std::move(first));
  report(state, "next", std::move(next));
  return true;
}

void report_paths(State& state, Collectives& collectives, const PathRequest& paths) {
  const UsedPaths used = paths_of_all(state.group(), collectives.used_paths());
  if (!used.transports.empty() || paths != PathRequest{}) {
    Json facts = to_json(used);
    facts["isolation"] = to_string(paths.isolation);
    facts["network_card"] = paths.network_card.empty() ? Json(nullptr) : Json(paths.network_card);
    facts["known"] = !used.transports.empty();
    state.facts("collective_paths", facts);
  }
  // Each rank checks its own: the cards of a rail have different names on different hosts.
  const std::string wrong = agreed(state.group(), path_violation(paths, collectives.used_paths()));
  if (!wrong.empty()) state.invalid(wrong);
}

}  // namespace bench
