// In what the results of one case differ: parameters, and where one of them varies the host, the
// rank or the repeat. What all have in common is said once, the rest becomes columns.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/run_summary.h"

namespace bench {

using Rows = std::vector<const Result*>;

struct Dimensions {
  Json common = Json::object();
  std::vector<std::string> varying;  // in the order in which they are shown
  std::vector<Json> of_row;          // one object per row
};

Dimensions dimensions(const Rows& rows);

/// "size_bytes" -> "size".
std::string dimension_title(const std::string& name);
/// The value for people: sizes with a prefix, text without quotes; "" for null.
std::string dimension_text(const std::string& name, const Json& value);
/// "dtype f32, threads 1".
std::string dimension_list(const Json& values);

}  // namespace bench
