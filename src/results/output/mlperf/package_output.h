// A package of results as a report and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "mlperf/check/check_report.h"
#include "mlperf/package/package.h"
#include "mlperf/score/entry_score.h"
#include "results/output/document/document.h"

namespace bench::mlperf {

struct CheckedPackage {
  Package package = {};
  CheckReport check = {};                  // of the package
  EntryScore score = {};                   // likewise
  std::vector<std::string> left_out = {};  // logs outside the chosen window
  /// 1 if a log fails the official check, a strict check found an error, or there is no score; else
  /// 0.
  ExitCode exit_code() const;
};

Document to_document(const CheckedPackage& checked);
/// schemas/report_mlperf_package.json
Json to_json(const CheckedPackage& checked);

}  // namespace bench::mlperf
