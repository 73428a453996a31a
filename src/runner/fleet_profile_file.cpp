#include "runner/fleet_profile_file.h"

#include "core/json.h"
#include "core/locations.h"
#include "core/schema.h"

namespace bench {

FleetProfile read_fleet_profile(const std::string& path) {
  const Schema schema = Schema::load(schema_path("fleet_profile"));
  return fleet_profile_from(schema.check(read_json(path), path), path);
}

}  // namespace bench
