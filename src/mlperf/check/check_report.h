// The verdict on the logs of a submission: the official verdict and the strict findings of each
// log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "mlperf/finding.h"

namespace bench::mlperf {

struct FileCheck {
  std::filesystem::path path = {};
  std::optional<std::size_t> folder = {};     // index in CheckReport::folders; loose logs have none
  std::string rule_set = {};                  // its version
  std::string rule_set_reason = {};           // why this one
  bool pass = false;                          // the official verdict
  bool crash = false;                         // the official checker ends with a traceback
  std::string benchmark = {}, division = {};  // as logged
  double minutes = std::numeric_limits<double>::quiet_NaN();  // from run_start to run_stop
  std::int64_t bytes = 0, lines = 0;
  std::vector<Finding> findings = {};  // official and strict, in the order of sort_findings()
};

/// A folder that contains or should contain result_*.txt.
struct FolderCheck {
  std::filesystem::path path = {};
  std::string submitter = {}, system = {}, benchmark = {};  // folder names
  std::vector<Finding> findings = {};                       // for the folder, not for a log in it
};

struct CheckReport {
  bool strict = true;
  std::vector<FileCheck> files = {};  // grouped by folder
  std::vector<FolderCheck> folders = {};
};

struct CheckCounts {
  std::size_t files = 0, passed = 0, failed = 0, crashed = 0;  // official; failed includes crashed
  std::size_t errors = 0, warnings = 0, notes = 0;             // of the strict checks
};
CheckCounts counts_of(const CheckReport& report);

/// True if every log passes officially and no strict check found an error. False without logs.
bool passed(const CheckReport& report);

/// schemas/report_mlperf_check.json. Invalid UTF-8 is replaced when printed.
Json to_json(const CheckReport& report);

}  // namespace bench::mlperf
