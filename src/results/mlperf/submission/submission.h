// The logs below a path, by what they belong to. The layout that MLPerf asks for is
//   ROUND/SUBMITTER/results/SYSTEM/BENCHMARK/result_*.txt   with scaling.json beside them, and
//   ROUND/SUBMITTER/systems/SYSTEM.json
// and a path may name any level of it, one log included. The names are those of folders: what a log
// itself says of its submitter is often another's or a placeholder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench::mlperf {

/// A folder with result_*.txt. Names are as the file system has them: print them with printable().
struct SubmissionEntry {
  std::string submitter = {};               // "" where the layout does not tell
  std::string system = {};                  // likewise
  std::string benchmark = {};               // the folder's name
  std::filesystem::path organisation = {};  // the folder that holds `results`; "" where none does
  std::filesystem::path folder = {};
  std::vector<std::filesystem::path> logs = {};  // result_*.txt in natural order
  std::optional<std::filesystem::path> scaling_file = {};
  std::optional<std::filesystem::path> system_file = {};  // systems/SYSTEM.json, if it exists
};

struct Submission {
  std::filesystem::path root = {};
  std::vector<SubmissionEntry> entries = {};        // in the natural order of their folders
  std::vector<std::filesystem::path> loose = {};    // logs of no entry, to be read one by one
  std::vector<std::filesystem::path> without = {};  // results/SYSTEM/BENCHMARK without a result
};

/// A path to a file is that log, loose. In a folder, those below it that hold result_*.txt are
/// entries; where there is none, all its files are loose logs. Names that begin with a dot are left
/// out, and so is what is neither file nor folder; a folder that links lead to is read once, at
/// most 16 levels down. Paths begin as `path` does. Throws Error(input) where there is no file at
/// all, and Error(environment) for a folder that cannot be read.
Submission find_submission(const std::filesystem::path& path);

}  // namespace bench::mlperf
