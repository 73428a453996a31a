// A page on one host: its verdict, the history of each metric, and its runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/output/document/document.h"
#include "results/store/history.h"
#include "results/verdicts/fleet/fleet_report.h"

namespace bench {

struct HostPage {
  std::string host;
  const FleetHostReport* fleet = nullptr;  // none if it was not judged
  std::vector<SeriesHistory> histories = {};

  struct Run {
    std::string id, address;  // of its page
    std::int64_t time_ns = 0;
    std::string suite;
    DocumentCell verdict;
  };
  std::vector<Run> runs = {};  // newest first
};

/// A plot for each metric, of the series that changed most; those with the greatest changes first.
Document to_document(const HostPage& page);

}  // namespace bench
