#include "probes/storage/rank_hosts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/json.h"

namespace bench::storage {

std::string this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

int ranks_on_this_host(Group& group) {
  const std::string own = this_host();
  const auto all = group.gather(own);
  const Json hosts = parse_json(broadcast_text(group, dump(all)), "the hosts of the ranks");
  return static_cast<int>(std::ranges::count(hosts, Json(own)));
}

}  // namespace bench::storage
