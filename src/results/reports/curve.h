// A sweep inside a case: many results that differ in one number, shown as one compact curve with a
// bar, all metrics side by side.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/reports/dimensions.h"
#include "results/reports/result_cells.h"

namespace bench {

struct Curve {
  std::string axis;                  // the parameter that is swept
  Json where = Json::object();       // the other varying parameters, which this curve holds fixed
  std::vector<std::string> metrics;  // in the order of appearance
  /// Results by value of the axis, then by metric.
  std::map<double, std::map<std::string, const Result*>> points;
};

struct Split {
  std::vector<Curve> curves;
  Rows rest;  // rows that belong to no sweep, in their order
};

/// Only the rows that have the number which most rows sweep over, where there is a sweep; else all.
/// Others of the case, such as the time it takes to begin, stand beside it and not in it.
Rows swept(const Rows& rows);

/// A sweep has more than six values of one numeric parameter, one result per value and metric.
Split find_curves(const Rows& rows, const Dimensions& dimensions);

std::string curve_text(const Curve& curve, Footnotes& notes, const TextStyle& style);

}  // namespace bench
