// Text for the facts of a data loader (topic "data_loader", docs/data.md). Missing or corrupt facts
// are omitted.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/run/dimensions.h"

namespace bench {

/// {"limits", "workers 812 samples/s, cpu 1624"}, {"workers", "2 recommended: ..."}, {"step time",
/// ...}, {"PyTorch", ...}: one row each.
FactList loader_lines(const Json& facts);

/// The rows of a case's jobs, under job IDs if there are several, and the cost of remote NUMA nodes
/// from its rows of data_loader.numa_ratio.
FactList loader_facts(const std::vector<std::pair<std::string, const Json*>>& jobs,
                      const Rows& rows);

}  // namespace bench
