// Output of `benchctl topology`.
#pragma once

#include <string>

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/verdicts/topology/fleet.h"

namespace bench {

Document to_document(const FleetTopology& fleet);
/// schemas/topology.json.
Json to_json(const FleetTopology& fleet, const std::string& run);

}  // namespace bench
