// What a night, and those who ask about nights, read before they begin.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "results/nightly/fault_catalogue.h"
#include "results/nightly/past.h"

namespace bench {

/// Of a night's own runs; its value is when the night began.
inline constexpr const char* kNightLabel = "night";

/// `file`: "" for hosts/faults/faults.json. Throws Error(input).
FaultCatalogue read_faults(const std::string& file);

/// Of the last `days`; empty where there is no database yet.
NightPast read_past(const std::filesystem::path& database, double days = 400.0);

/// When the newest night of that suite began; 0 for none.
std::int64_t last_night_ns(const std::filesystem::path& database, const std::string& suite);

}  // namespace bench
