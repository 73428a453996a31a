// One finding of a check of an MLPerf log or submission, with its position.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace bench::mlperf {

enum class Severity { note, warning, error };
std::string_view to_string(Severity severity);  // "note", "warning", "error"

struct Finding {
  std::string rule =
      {};  // rule ID: "required.run_stop", "schedule.evaluation"; stable between versions
  Severity severity = Severity::error;
  bool official = false;    // also found by the official checker
  std::int64_t line = 0;    // in the file, from 1; 0: the whole file or folder
  std::int64_t column = 0;  // of the token, from 1, in bytes; 0 without a line
  std::string key = {};     // of the line; "" if none
  std::string expected = {};
  std::string found = {};  // as logged; untrusted
  std::string text = {};   // one sentence: the problem and what to do
  std::string where = {};  // section of the rules; "" for requirements of benchctl only
};

/// The keys of `benchctl mlperf check --json`: rule, severity, official, line, column, key,
/// expected, found, text, where. Text of other encodings than UTF-8 is replaced.
Json to_json(const Finding& finding);

/// Sorts by line, then by rule, as in every report.
void sort_findings(std::vector<Finding>& findings);

}  // namespace bench::mlperf
