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

/// Times of creating a communicator, for the first time or again.
struct Joins {
  std::string which;
  WorkWatch watch;
  std::vector<double> seconds = {};

  Joins(State& state, std::string kind)
      : which(std::move(kind)), watch(state.device(), state.group(), Worker::threads) {}
};

void report(State& state, Joins& joins) {
  if (joins.seconds.empty()) return;
  const Conditions conditions = joins.watch.finish();
  state.under(conditions)
      .values("init_time", std::move(joins.seconds), {{"communicator", joins.which}}, "max");
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
  Joins first(state, "first"), next(state, "next");
  for (std::int64_t i = 0; reason.empty() && i < state.integer("init_repeats"); ++i) {
    Joins& kind = collectives.connections() == 0 ? first : next;
    Joined joined;
    kind.watch.during([&] { joined = join_once(state, collectives, paths); });
    kind.seconds.push_back(joined.seconds);
    reason = joined.obstacle;
  }
  if (!reason.empty()) {
    state.skip("unavailable transport: " + reason);
    return false;
  }
  report(state, first);
  report(state, next);
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
