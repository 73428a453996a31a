// Criteria per kind of host, stored in a file (schemas/fleet_profile.json): criteria from one fleet
// judge later ones, even a fleet that is bad as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/units.h"
#include "results/verdicts/peers/criteria.h"

namespace bench {

/// What two values must share to be compared: metric, params, type of device, and kind of host
/// (product, CPU, GPUs).
struct FleetKey {
  std::string metric;
  Json params = Json::object();
  std::string device;  // "host", "cuda": of any index
  std::string kind;    // of hosts: "AMD EPYC 9654 | 192 threads | ..."; "" if unknown
  bool operator==(const FleetKey&) const = default;
};
/// A unique text.
std::string text_of(const FleetKey& key);
/// "gemm.throughput (dtype f32, m 512)". External text: not made printable.
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
/// `json` must have passed schemas/fleet_profile.json. Throws Error(input), naming `origin`, for
/// invalid criteria.
FleetProfile fleet_profile_from(const Json& json, const std::string& origin);

}  // namespace bench
