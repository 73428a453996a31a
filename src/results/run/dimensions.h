// How the results of a case differ: parameters, and host, rank or repeat if they vary. Common
// values are printed once, the others become columns.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "results/run/run_summary.h"

namespace bench {

using Rows = std::vector<const Result*>;

struct Dimensions {
  Json common = Json::object();
  std::vector<std::string> varying;  // in display order
  std::vector<Json> of_row;          // one object per row
};

Dimensions dimensions(const Rows& rows);

/// "size_bytes" -> "size".
std::string dimension_title(const std::string& name);
/// The value for people: sizes with a prefix, text without quotes; "" for null.
std::string dimension_text(const std::string& name, const Json& value);
/// "dtype f32, threads 1".
std::string dimension_list(const Json& values);
/// "gemm.throughput (dtype f32, m 512)"
std::string with_dimensions(const std::string& name, const Json& values);

/// Names that tell metrics apart in a plot: of their parameters only those in which metrics of one
/// name differ.
std::vector<std::string> short_names(const std::vector<std::pair<std::string, Json>>& metrics);

}  // namespace bench
