// Renders a fleet report: terminal, JSON (schemas/report_fleet.json), and an HTML page below three
// megabytes for a thousand hosts.
#pragma once

#include <string>

#include "results/fleet/fleet_report.h"

namespace bench {

std::string to_text(const FleetReport& report, const TextStyle& style);
/// {verdict, hosts: [{host, verdict, expires, reasons, lemon, ...}], metrics, learned} and more.
Json to_json(const FleetReport& report);
std::string to_html(const FleetReport& report);

/// "1000 hosts: 940 pass, 12 fail, 48 inconclusive; 3 with repeat failures".
std::string summary_words(const FleetReport& report);
/// "failed on 5 of the last 90 days; p = 1e-7 at the other hosts' rate". "" for none.
std::string incident_text(const FleetHostReport& host, const FleetSettings& settings);
/// "2026-11-20"; "" for 0.
std::string date_text(std::int64_t time_ns);
/// The loss against peers or profile, in practical thresholds; NaN for none.
double relative_loss(const FleetReport& report, const FleetRow& row);

}  // namespace bench
