// Groups hosts with the same hardware, regardless of versions and settings.
#include <algorithm>

#include "results/topology/fleet.h"

namespace bench {
namespace {

bool is_hardware(const std::string& path) {
  const Aspect aspect = aspect_of(path);
  return aspect == Aspect::part || aspect == Aspect::link || aspect == Aspect::place;
}

bool same_hardware(const Shape& a, const Shape& b) {
  const auto within = [](const Shape& one, const Shape& other) {
    return std::ranges::all_of(one, [&](const auto& entry) {
      const Json& value = value_at(other, entry.first);
      return !is_hardware(entry.first) || is_unreadable_trait(entry.second.value) ||
             is_unreadable_trait(value) || same_value(entry.first, entry.second.value, value);
    });
  };
  return within(a, b) && within(b, a);
}

}  // namespace

std::vector<HostKind> kinds_of(const std::vector<HostTopology>& hosts) {
  std::vector<HostKind> kinds;
  for (const HostTopology& host : hosts) {
    if (!host.probed) continue;
    const auto same = std::ranges::find_if(
        kinds, [&](const HostKind& kind) { return same_hardware(kind.shape, host.shape); });
    if (same == kinds.end())
      kinds.push_back({{host.host}, host.shape});
    else
      same->hosts.push_back(host.host);
  }
  std::ranges::stable_sort(kinds, std::greater{}, [](const HostKind& k) { return k.hosts.size(); });
  return kinds;
}

}  // namespace bench
