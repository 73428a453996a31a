// Inputs of a night: fault catalogue and past nights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "results/nightly/fault_catalogue.h"
#include "results/nightly/past.h"

namespace bench {

/// Label of a night's runs; its value is the start of the night.
inline constexpr const char* kNightLabel = "night";

/// `file`: "" for hosts/faults/faults.json. Throws Error(input).
FaultCatalogue read_faults(const std::string& file);

/// Of the last `days`; empty without a database.
NightPast read_past(const std::filesystem::path& database, double days = 400.0);

/// Start of the newest night of that suite; 0 for none.
std::int64_t last_night_ns(const std::filesystem::path& database, const std::string& suite);

}  // namespace bench
