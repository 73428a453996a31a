// Sides of a comparison as words of a command line: runs, labels, hosts, hardware, files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/compare/compare.h"
#include "results/compare/side.h"
#include "runner/commands/command.h"

namespace bench {

/// In the order given. Files alone need no database. Throws Error as parse_selector and read_side
/// do.
std::vector<Side> read_sides(const ReadingOptions& options, const std::vector<std::string>& texts,
                             const std::vector<std::string>& metrics);

/// The same, with the noise of other runs where the two sides are single runs.
std::vector<Side> read_sides(const ReadingOptions& options, const std::vector<std::string>& texts,
                             const std::vector<std::string>& metrics,
                             std::map<MetricKey, RunNoise>& noise);

/// What a side may be, for the help of a command.
inline constexpr const char* kSidesHelp =
    "A side is a run (its id, its beginning, latest, latest~N), label:NAME=VALUE, host:NAMES,\n"
    "hardware:NAME, device:NAME, time:FROM..TO or file:PATH (of `benchctl export json|jsonl`);\n"
    "several joined by '+' must all hold.\n";

}  // namespace bench
