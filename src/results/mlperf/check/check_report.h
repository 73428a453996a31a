// The verdict on the logs of a submission: the official one of each log, and beside it what strict
// checks found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/mlperf/finding.h"

namespace bench::mlperf {

struct FileCheck {
  std::filesystem::path path = {};
  std::optional<std::size_t> folder = {};     // index in CheckReport::folders; loose logs have none
  std::string rule_set = {};                  // its version
  std::string rule_set_reason = {};           // why this one
  bool pass = false;                          // the official verdict
  bool crash = false;                         // the official checker ends with a traceback there
  std::string benchmark = {}, division = {};  // as the log has them
  double minutes = std::numeric_limits<double>::quiet_NaN();  // from run_start to run_stop
  std::int64_t bytes = 0, lines = 0;
  std::vector<Finding> findings = {};  // official and strict, in the order of sort_findings()
};

/// A folder with result_*.txt, or one that should have some.
struct FolderCheck {
  std::filesystem::path path = {};
  std::string submitter = {}, system = {}, benchmark = {};  // names of folders
  std::vector<Finding> findings = {};                       // of the folder, not of a log in it
};

struct CheckReport {
  bool strict = true;
  std::vector<FileCheck> files = {};  // a folder's stand together
  std::vector<FolderCheck> folders = {};
};

struct CheckCounts {
  std::size_t files = 0, passed = 0, failed = 0, crashed = 0;  // official; crashed failed too
  std::size_t errors = 0, warnings = 0, notes = 0;             // of the strict checks
};
CheckCounts counts_of(const CheckReport& report);

/// Every log passes officially, and no strict check found an error. False for no log at all.
bool passed(const CheckReport& report);

/// schemas/report_mlperf_check.json. Texts of other encodings than UTF-8 are mended when printed.
Json to_json(const CheckReport& report);
/// For people and their editors: a finding a line, "FILE:LINE:COLUMN: error: ..."; what several
/// logs of a folder share is told once, unless `all`. Safe to print on a terminal.
std::string to_text(const CheckReport& report, bool all);
/// JUnit XML: a suite a folder, for each log a case of the official verdict and, in a strict
/// report, one of ours.
std::string to_junit(const CheckReport& report);
/// SARIF 2.1.0, as code hosts read it.
Json to_sarif(const CheckReport& report);

}  // namespace bench::mlperf
