#include "probes/storage/rank_hosts.h"

#include <algorithm>
#include <string>

#include "core/json.h"
#include "probes/facts/system_files.h"

namespace bench::storage {

std::string this_host() { return host_name(); }

int ranks_on_this_host(Group& group) {
  const std::string own = this_host();
  const auto all = group.gather(own);
  const Json hosts = parse_json(broadcast_text(group, dump(all)), "the hosts of the ranks");
  return static_cast<int>(std::ranges::count(hosts, Json(own)));
}

}  // namespace bench::storage
