// Text for the facts of a data loader (topic "data_loader", docs/data.md). Missing or corrupt facts
// are omitted.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/run/dimensions.h"

namespace bench {

/// {"limits", "workers 812 samples/s (binds), cpu 1624"}, {"workers", "2 recommended: ..."},
/// {"steps", ...}, {"PyTorch", ...}: one line each. Names are not sanitised.
std::vector<std::pair<std::string, std::string>> loader_lines(const Json& facts);

/// The lines of a case's jobs, under job IDs if there are several, and the cost of remote NUMA
/// nodes from its rows of data_loader.numa_ratio. "" if empty.
std::string loader_text(const std::vector<std::pair<std::string, const Json*>>& jobs,
                        const Rows& rows, std::size_t indent, const TextStyle& style);

}  // namespace bench
