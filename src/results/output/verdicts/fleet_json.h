// A fleet report as JSON: schemas/report_fleet.json.
#pragma once

#include <vector>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/fleet/fleet_report.h"

namespace bench {

/// {verdict, hosts: [{host, verdict, expires, reasons, lemon, ...}], metrics, learned} and more.
Json to_json(const FleetReport& report);

}  // namespace bench
