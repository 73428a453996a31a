// Options that select histories for a report: --metric, --host, --label, --from, --to.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/store/history.h"
#include "results/verdicts/compare/compare.h"
#include "results/verdicts/compare/side.h"
#include "runner/commands/command.h"

namespace bench {

// Parses the sides of a comparison: runs, labels, hosts, hardware, files.

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

struct SelectionOptions {
  std::vector<std::string> metrics, hosts, labels;
  std::string from, to;

  /// Throws Error(usage) for a label without '=', Error(input) for an invalid time.
  Selection selection() const;
};

void add_selection_options(CLI::App& command, SelectionOptions& options);

}  // namespace bench
