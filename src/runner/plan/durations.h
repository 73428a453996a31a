// How long jobs took the last time, so that a plan can say about how long it takes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/job.h"
#include "core/units.h"

namespace bench {

/// By duration_key(). What cannot be read is left out: it is only a guess.
using Durations = std::map<std::string, Seconds>;

/// Jobs that ask for the same work have the same key, whatever their ids.
std::string duration_key(const Job& job);

/// From the newest run of this suite in the folder; empty when there is none.
Durations last_durations(const std::filesystem::path& runs, const std::string& suite);

}  // namespace bench
