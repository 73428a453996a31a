#include "runner/launch/group_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace bench {

std::map<std::string, std::string> group_environment(const std::vector<Place>& places,
                                                     const LaunchSettings& settings,
                                                     bool by_address) {
  if (places.empty()) return {};
  const bool all_here = std::ranges::all_of(places, [](const Place& place) { return place.here; });
  const Place& first = places.front();
  const std::string address = first.address.substr(first.address.find('@') + 1);
  std::map<std::string, std::string> env = {
      {"BENCH_RENDEZVOUS", all_here     ? "localhost"
                           : by_address ? address
                                        : first.host},
      {"BENCH_GROUP_TIMEOUT_S", std::to_string(std::max(1, settings.start_timeout_s - 5))}};
  if (!all_here && !settings.interfaces.empty()) env["BENCH_GROUP_INTERFACE"] = settings.interfaces;
  return env;
}

std::string make_group_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

std::vector<std::string> group_variables() {
  return {"BENCH_GROUP_INTERFACE",
          "BENCH_GROUP_TIMEOUT_S",
          "BENCH_GROUP_TOKEN",
          "BENCH_RENDEZVOUS",
          "LOCAL_RANK",
          "MASTER_ADDR",
          "MASTER_PORT",
          "RANK",
          "TORCHELASTIC_RUN_ID",
          "TORCHELASTIC_USE_AGENT_STORE",
          "WORLD_SIZE"};
}

}  // namespace bench
