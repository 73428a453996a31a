// A sweep inside a case: many results that differ in one number, shown as one compact curve with a
// bar, all metrics side by side.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/output/run/result_cells.h"
#include "results/run/dimensions.h"

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

/// If the case has a sweep, only the rows with its numeric parameter; otherwise all. Other rows of
/// the case, such as its start-up time, are listed separately.
Rows swept(const Rows& rows);

/// A sweep has more than six values of one numeric parameter, one result per value and metric.
Split find_curves(const Rows& rows, const Dimensions& dimensions);

/// One row per point, metrics in columns, and a bar for the main metric; pages also have a plot.
void add_curve(Document& document, const Curve& curve, Footnotes& notes);

}  // namespace bench
