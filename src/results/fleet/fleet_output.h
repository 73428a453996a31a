// A fleet's report for people and for programs: terminal, JSON (schemas/report_fleet.json), and a
// page that stays below three megabytes for a thousand hosts.
#pragma once

#include <string>

#include "results/fleet/fleet_report.h"

namespace bench {

std::string to_text(const FleetReport& report, const TextStyle& style);
/// {verdict, hosts: [{host, verdict, expires, reasons, lemon, ...}], metrics, learned} and more.
Json to_json(const FleetReport& report);
std::string to_html(const FleetReport& report);

/// "1000 hosts: 940 pass, 12 fail, 48 inconclusive; 3 fail again and again".
std::string summary_words(const FleetReport& report);
/// "failed on 5 of the last 90 days; chance 1e-7 at the others' rate". "" for none.
std::string incident_words(const FleetHostReport& host, const FleetSettings& settings);
/// "2026-11-20"; "" for 0.
std::string date_text(std::int64_t time_ns);
/// The loss, against peers or profile, in practical thresholds; NaN where there is none.
double badness(const FleetReport& report, const FleetRow& row);

}  // namespace bench
