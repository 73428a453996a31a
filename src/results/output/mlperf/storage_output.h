// Checks and scores of MLPerf Storage as documents.
#pragma once

#include <string>

#include "mlperf/storage/storage_check.h"
#include "mlperf/storage/storage_rules.h"
#include "results/output/document/document.h"

namespace bench::mlperf::storage {

/// Verdict, a row for each workload, then the findings by rule. With `notes` those too.
Document to_document(const StorageReport& report, bool notes);

/// The figures of each workload, and why a workload has none.
Document scores_document(const StorageReport& report);

/// One rule, or all of them: what it asks, how it is computed, how severe it is.
Document rules_document(const std::vector<StorageRule>& rules);

}  // namespace bench::mlperf::storage
