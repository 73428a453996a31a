// What ranks are told that meet over TCP, because their MPI is missing or broken
// (src/probes/backends/tcp/rendezvous.h reads it). Ranks that MPI joins do not look.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/launch/launch_settings.h"
#include "runner/launch/place.h"

namespace bench {

/// BENCH_RENDEZVOUS: where rank 0 is; each launch has a port of its own, which the launcher's
/// numbers give. BENCH_GROUP_TIMEOUT_S: some seconds less than we ourselves wait, so that the ranks
/// can still say who is missing. `by_address`: hosts are reached as the hosts file says, else by
/// their names.
std::map<std::string, std::string> group_environment(const std::vector<Place>& places,
                                                     const LaunchSettings& settings,
                                                     bool by_address);

/// 128 random bits that the ranks of one run know, and nobody else: BENCH_GROUP_TOKEN.
std::string make_group_token();

/// Of a group that we ourselves may be a rank of: a rank that we start has nothing to do with it.
std::vector<std::string> group_variables();

}  // namespace bench
