// What a check of an MLPerf log or submission found: one fault, at its true place.
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
      {};  // its id: "required.run_stop", "schedule.evaluation"; stable between versions
  Severity severity = Severity::error;
  bool official = false;    // the official checker finds it too
  std::int64_t line = 0;    // of the file, from 1; 0: the file or the folder as a whole
  std::int64_t column = 0;  // of the token, from 1, in bytes; 0 where there is no line
  std::string key = {};     // of the line; "" where none is meant
  std::string expected = {};
  std::string found = {};  // as the log has it; may hold anything that a log can
  std::string text = {};   // one sentence: what is wrong and what to do
  std::string where = {};  // where the rules say so; "" where only we ask for it
};

/// The keys of `benchctl mlperf check --json`: rule, severity, official, line, column, key,
/// expected, found, text, where. Text of other encodings than UTF-8 is replaced.
Json to_json(const Finding& finding);

/// By line, then by rule: the order of every report.
void sort_findings(std::vector<Finding>& findings);

}  // namespace bench::mlperf
