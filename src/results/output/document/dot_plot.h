// Rows of dots on one axis: where each host stands in each metric, so that one that stands apart is
// seen at once.
#pragma once

#include <string>
#include <vector>

#include "core/json_fields.h"

namespace bench {

struct Dot {
  std::string name;
  double value = kNoValue;                 // not finite: not drawn
  bool marked = false;                     // drawn larger, in another colour, with its name
  double low = kNoValue, high = kNoValue;  // its interval, drawn as a line
};

struct DotRow {
  std::string name;  // whole, as a tooltip where it is cut
  std::vector<Dot> dots;
  double low = kNoValue, high = kNoValue;  // a shaded range, such as what is tolerated
  std::string label = {};                  // shown; "": the name
};

struct DotPlot {
  std::string title, x_label;
  std::vector<DotRow> rows;
  std::vector<double> covered = {};  // values that the axis reaches in any case
};

/// One <svg> element, as in plot.h; "" without a dot. Dots at one place are stacked as far as
/// the row is high; more are not drawn. Up to a thousand dots have tooltips.
std::string to_svg(const DotPlot& plot);

}  // namespace bench
