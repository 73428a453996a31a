// What wholes are made of: a bar for each, its parts side by side, with a legend. One <svg>
// element, like those of plot.h.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// shares[bar][part], of 1; NaN and what is not positive are not drawn. What is missing to 1 stays
/// empty, and more than 1 is cut off. At most eight parts have a colour of their own.
struct StackedBars {
  std::string title;
  std::vector<std::string> bars, parts;
  std::vector<std::vector<double>> shares;
};

/// "" without a bar or without a part. Each piece says its share when it is pointed at.
std::string to_svg(const StackedBars& bars);

}  // namespace bench
