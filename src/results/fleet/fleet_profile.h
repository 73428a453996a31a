// Criteria of a kind of host, kept in a file: what a fleet taught once judges later ones, also one
// that is bad as a whole. schemas/fleet_profile.json is its form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/units.h"
#include "results/fleet/criteria.h"

namespace bench {

/// What must be equal for values of two hosts to be compared: metric, params, kind of device, and
/// what hosts are (product, CPU, GPUs).
struct FleetKey {
  std::string metric;
  Json params = Json::object();
  std::string device;  // "host", "cuda": of any index
  std::string kind;    // of hosts: "AMD EPYC 9654 | 192 threads | ..."; "" where nothing is known
  bool operator==(const FleetKey&) const = default;
};
/// One text for it.
std::string text_of(const FleetKey& key);
/// "gemm.throughput (dtype f32, m 512)". From outside: not made printable.
std::string metric_title(const FleetKey& key);

struct ProfileEntry {
  FleetKey key;
  Unit unit = Unit::count;
  Better better = Better::higher;
  Criterion criterion;
};

struct FleetProfile {
  std::int64_t time_ns = 0;  // when it was learned
  std::vector<ProfileEntry> entries = {};
  struct Refusal {
    FleetKey key;
    std::string why;
  };
  std::vector<Refusal> refused = {};
};

Json to_json(const FleetProfile& profile);
/// `json` must have passed schemas/fleet_profile.json. Throws Error(input) for values that are no
/// criteria, naming `origin`.
FleetProfile fleet_profile_from(const Json& json, const std::string& origin);

}  // namespace bench
