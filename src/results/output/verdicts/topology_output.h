// Output of `benchctl topology`.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/topology/fleet.h"

namespace bench {

/// schemas/topology.json.
Json to_json(const FleetTopology& fleet, const std::string& run);
std::string to_text(const FleetTopology& fleet, const TextStyle& style);

/// Summary lines of a kind of host: "2 x AMD EPYC 7742, 128 cores", "8 x gpu/10de:20b0
/// ...".
std::vector<std::string> summary_of(const Shape& shape);

}  // namespace bench
