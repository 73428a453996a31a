// What the ranks of each host had of a load that all of them ran at once: a sum over hosts hides
// the one that got little of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/group.h"
#include "probes/storage/file_load.h"
#include "probes/storage/pitfalls.h"

namespace bench::storage {

struct HostLoad {
  std::string host = {};  // as it calls itself
  int ranks = 0;
  double rate = 0.0;  // bytes per second, the sum of its ranks, each by its own time
};

/// At rank 0, hosts in the order of their first ranks; empty elsewhere. Every rank calls it with
/// its own result and the name of its host.
std::vector<HostLoad> loads_of_hosts(Group& group, const LoadResult& own, const std::string& host);

/// slow_host: the slowest host, where a rank of it got less than four fifths of what one of the
/// median host got.
std::optional<Pitfall> slow_host(std::span<const HostLoad> hosts);

}  // namespace bench::storage
