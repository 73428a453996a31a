// Renders a fleet report: terminal, JSON (schemas/report_fleet.json), and an HTML page below three
// megabytes for a thousand hosts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/output/document/plot.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/fleet/fleet_report.h"

namespace bench {

// Plots of a fleet.

inline constexpr std::size_t kMostMapColumns = 40;

/// The series by their worst member, worst first: indices in report.series.
std::vector<std::size_t> worst_series(const FleetReport& report);
/// Hosts and devices by the first series of `order`, in practical thresholds.
HeatMap fleet_map(const FleetReport& report, const std::vector<std::size_t>& order);
/// Cumulative distribution of the members of one series.
std::string fleet_distribution(const FleetReport& report, std::size_t series);

std::string to_text(const FleetReport& report, const TextStyle& style);
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
