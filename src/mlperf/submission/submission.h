// Finds the logs below a path and groups them by entry. The MLPerf layout is
//   ROUND/SUBMITTER/results/SYSTEM/BENCHMARK/result_*.txt   with scaling.json next to them, and
//   ROUND/SUBMITTER/systems/SYSTEM.json
// A path may name any level of it or a single log. Names come from folders, because the submitter
// in a log is often another organisation or a placeholder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mlperf/rules/rule_set_choice.h"

namespace bench::mlperf {

// Natural order of names with numbers: result_2 before result_10.

/// A strict order. Digit sequences of any length compare as numbers; names that differ only in
/// leading zeros compare as strings.
bool natural_less(std::string_view a, std::string_view b);

/// A folder with result_*.txt. Names come from the file system: print them with printable().
struct SubmissionEntry {
  std::string submitter = {};               // "" outside the layout
  std::string system = {};                  // likewise
  std::string benchmark = {};               // folder name
  std::filesystem::path organisation = {};  // the parent folder of `results`; "" if there is none
  std::filesystem::path folder = {};
  std::vector<std::filesystem::path> logs = {};  // result_*.txt in natural order
  std::optional<std::filesystem::path> scaling_file = {};
  std::optional<std::filesystem::path> system_file = {};  // systems/SYSTEM.json, if it exists
};

struct Submission {
  std::filesystem::path root = {};
  std::vector<SubmissionEntry> entries = {};      // in natural order of their folders
  std::vector<std::filesystem::path> loose = {};  // logs outside entries, read individually
  std::vector<std::filesystem::path> without =
      {};  // results/SYSTEM/BENCHMARK folders without results
};

/// A file is one loose log. Below a folder, all folders with result_*.txt are entries; if there are
/// none, all files are loose logs. Skips names that begin with a dot and special files; reads a
/// folder reached through several links once, at most 16 levels deep. Returned paths begin with
/// `path`. Throws Error(input) if there are no files, and Error(environment) for an unreadable
/// folder.
Submission find_submission(const std::filesystem::path& path);

// The rounds that a submission can belong to, by its benchmark folders.

/// `rule_set`: a version, which is returned, or "auto": the rule sets in `folder` with all
/// benchmarks of the submitters' folders, even if only a part of them is read; all rule sets if
/// none has them. Oldest first, at least one. Throws Error(input) for an unknown version.
std::vector<RuleSet> possible_rounds(const Submission& submission,
                                     const std::filesystem::path& folder,
                                     const std::string& rule_set);

/// The rule set for a log of a submission with these possible rounds.
RuleSetChoice choose_round(const Log& log, const std::vector<RuleSet>& possible,
                           const std::string& rule_set);

}  // namespace bench::mlperf
