// The results in a file that `benchctl export json` or `jsonl` wrote, one JSON object each.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

/// Each has `run`. Throws Error(environment) for an unreadable file, Error(input) with file and
/// line for any other format.
std::vector<Json> exported_rows(const std::string& path);

/// The same for text in memory; `origin` names it in errors.
std::vector<Json> exported_rows_of(const std::string& text, const std::string& origin);

}  // namespace bench
