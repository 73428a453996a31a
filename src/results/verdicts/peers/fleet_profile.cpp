#include "results/verdicts/peers/fleet_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/error.h"
#include "core/metric_names.h"
#include "core/text.h"
#include "core/time.h"
#include "results/run/dimensions.h"

namespace bench {
namespace {

Json key_json(const FleetKey& key) {
  return {
      {"metric", key.metric}, {"params", key.params}, {"device", key.device}, {"kind", key.kind}};
}

FleetKey key_from(const Json& json) {
  return {std::string(current_metric_name(text_field(json, "metric"))),
          object_field(json, "params"), text_field(json, "device"), text_field(json, "kind")};
}

Json entry_json(const ProfileEntry& entry) {
  const Criterion& criterion = entry.criterion;
  Json json = key_json(entry.key);
  json["unit"] = std::string(to_string(entry.unit));
  json["better"] = std::string(to_string(entry.better));
  json["centre"] = criterion.centre;
  json["quantiles"] = criterion.quantiles;
  json["alpha"] = criterion.alpha;
  json["run_noise"] = std::isfinite(criterion.run_noise) ? Json(criterion.run_noise) : Json();
  json["host_noise"] = std::isfinite(criterion.host_noise) ? Json(criterion.host_noise) : Json();
  json["hosts"] = criterion.hosts;
  json["left_out"] = criterion.excluded;
  return json;
}

ProfileEntry entry_from(const Json& json, const std::string& origin) {
  ProfileEntry entry{key_from(json),
                     unit_from(text_field(json, "unit")),
                     better_from(text_field(json, "better")),
                     {}};
  Criterion& criterion = entry.criterion;
  criterion.centre = number_field(json, "centre");
  criterion.alpha = number_field(json, "alpha");
  criterion.run_noise = number_field(json, "run_noise");
  criterion.host_noise = number_field(json, "host_noise");
  criterion.hosts =
      static_cast<std::size_t>(std::max<std::int64_t>(0, integer_field(json, "hosts")));
  criterion.excluded =
      static_cast<std::size_t>(std::max<std::int64_t>(0, integer_field(json, "left_out")));
  for (const Json& value : array_field(json, "quantiles"))
    if (value.is_number()) criterion.quantiles.push_back(value.get<double>());
  const bool sorted = std::ranges::is_sorted(criterion.quantiles);
  if (criterion.quantiles.size() != std::size(kCriterionQuantiles) || !sorted)
    throw Error(ErrorKind::input,
                fmt::format("{}: {} has {} quantiles{}", origin, printable(entry.key.metric),
                            criterion.quantiles.size(), sorted ? "" : ", not in ascending order"),
                fmt::format("{} are required in ascending order; learn the profile again",
                            std::size(kCriterionQuantiles)));
  return entry;
}

}  // namespace

std::string text_of(const FleetKey& key) { return dump(key_json(key)); }

std::string metric_title(const FleetKey& key) { return with_dimensions(key.metric, key.params); }

Json to_json(const FleetProfile& profile) {
  Json json = {{"time", format_time(profile.time_ns)},
               {"criteria", Json::array()},
               {"refused", Json::array()}};
  for (const ProfileEntry& entry : profile.entries) json["criteria"].push_back(entry_json(entry));
  for (const auto& [key, why] : profile.refused) {
    Json refused = key_json(key);
    refused["why"] = why;
    json["refused"].push_back(std::move(refused));
  }
  return json;
}

FleetProfile fleet_profile_from(const Json& json, const std::string& origin) {
  FleetProfile profile;
  profile.time_ns = parse_time(text_field(json, "time"));
  for (const Json& entry : array_field(json, "criteria"))
    profile.entries.push_back(entry_from(entry, origin));
  for (const Json& refused : array_field(json, "refused"))
    profile.refused.push_back({key_from(refused), text_field(refused, "why")});
  return profile;
}

}  // namespace bench
