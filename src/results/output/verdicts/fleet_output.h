// A fleet report as a document, whose page stays below three megabytes for a thousand hosts, and as
// JSON (schemas/report_fleet.json).
#pragma once

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/verdicts/fleet/fleet_report.h"

namespace bench {

Document to_document(const FleetReport& report);
/// {verdict, hosts: [{host, verdict, expires, reasons, lemon, ...}], metrics, learned} and more.
Json to_json(const FleetReport& report);

}  // namespace bench
