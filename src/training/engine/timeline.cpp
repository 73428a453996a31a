#include "training/engine/timeline.h"

namespace bench::training {

std::string_view to_string(Activity activity) {
  constexpr std::string_view kNames[] = {
      "operation", "data",      "transfer", "losses", "tables", "messages",     "lane_sum",
      "lane_wait", "rank_wait", "exchange", "norm",   "update", "offload_wait", "rollouts"};
  static_assert(std::size(kNames) == kActivities);
  return kNames[static_cast<std::size_t>(activity)];
}

}  // namespace bench::training
