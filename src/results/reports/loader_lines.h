// What a loader says of itself beside its series: facts of topic "data_loader" (docs/data.md), in
// words. Any of them may be missing or damaged, and then nothing is said of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "results/reports/dimensions.h"
#include "results/reports/text_style.h"

namespace bench {

/// {"limits", "workers 812 samples/s (binds), cpu 1624"}, {"workers", "2 recommended: ..."},
/// {"steps", ...}, {"PyTorch", ...}: a line each. Names stand in it as they were told.
std::vector<std::pair<std::string, std::string>> loader_lines(const Json& facts);

/// The lines of a case's jobs, each job's under its id where there are several; and of its rows of
/// data_loader.numa_ratio what the way to another node costs. "" where there is nothing.
std::string loader_text(const std::vector<std::pair<std::string, const Json*>>& jobs,
                        const Rows& rows, std::size_t indent, const TextStyle& style);

}  // namespace bench
