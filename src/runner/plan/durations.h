// Job durations of the last run, for the expected time of a plan.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/job.h"
#include "core/units.h"

namespace bench {

/// By duration_key(). Unreadable entries are skipped.
using Durations = std::map<std::string, Seconds>;

/// Jobs with the same work have the same key, regardless of ID.
std::string duration_key(const Job& job);

/// From the newest run of this suite in the folder; empty if there is none.
Durations last_durations(const std::filesystem::path& runs, const std::string& suite);

}  // namespace bench
