#include "probes/rank_times.h"

#include <algorithm>

namespace bench {
namespace {

/// Every how many samples one is kept.
std::size_t stride(std::size_t samples, std::size_t ranks) {
  const std::size_t most = std::max(kFewestRankTimes, kMostRankTimes / ranks);
  return (samples + most - 1) / most;
}

}  // namespace

std::optional<Chunk> rank_times(Group& group, const Json& params,
                                const std::vector<double>& own_s) {
  if (own_s.empty()) return {};
  const std::size_t step = stride(own_s.size(), static_cast<std::size_t>(group.size()));
  Json own = Json::array(), places = Json::array();
  for (std::size_t i = 0; i < own_s.size(); i += step) {
    own.push_back(own_s[i]);
    places.push_back(i);
  }
  const std::vector<std::string> all = group.gather(dump(own));
  if (group.rank() != 0) return {};
  Chunk chunk{"rank_times " + dump(params), {{"sample", std::move(places)}}};
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    chunk.columns["rank" + std::to_string(rank)] = parse_json(all[rank], "times of a rank");
  return chunk;
}

}  // namespace bench
