// Parses the sides of a comparison: runs, labels, hosts, hardware, files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/compare/compare.h"
#include "results/compare/side.h"
#include "runner/commands/command.h"

namespace bench {

/// In the given order. Files need no database. Throws Error like parse_selector and read_side.
std::vector<Side> read_sides(const ReadingOptions& options, const std::vector<std::string>& texts,
                             const std::vector<std::string>& metrics);

/// Also returns the noise of other runs if both sides are single runs.
std::vector<Side> read_sides(const ReadingOptions& options, const std::vector<std::string>& texts,
                             const std::vector<std::string>& metrics,
                             std::map<MetricKey, RunNoise>& noise);

/// Help text on sides.
inline constexpr const char* kSidesHelp =
    "A side is a run (ID, ID prefix, latest, latest~N), label:NAME=VALUE, host:NAMES,\n"
    "hardware:NAME, device:NAME, time:FROM..TO or file:PATH (from `benchctl export json|jsonl`);\n"
    "conditions joined by '+' must all hold.\n";

}  // namespace bench
