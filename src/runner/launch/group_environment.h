// Environment of ranks that use the TCP rendezvous because MPI is missing or broken
// (src/probes/backends/tcp/rendezvous.h reads it). Ranks that use MPI ignore it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/launch/launch_settings.h"
#include "runner/launch/place.h"

namespace bench {

/// BENCH_RENDEZVOUS: address of rank 0; the port is derived from the launcher's job ID.
/// BENCH_GROUP_TIMEOUT_S: some seconds less than our own limit, so that ranks can still report who is
/// missing. `by_address`: use the addresses of the hosts file instead of host names.
std::map<std::string, std::string> group_environment(const std::vector<Place>& places,
                                                     const LaunchSettings& settings,
                                                     bool by_address);

/// 128 random bits known only to the ranks of one run: BENCH_GROUP_TOKEN.
std::string make_group_token();

/// Variables of a group that this process may belong to, which our ranks must not inherit.
std::vector<std::string> group_variables();

}  // namespace bench
