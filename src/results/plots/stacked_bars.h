// Stacked bars: one bar per whole with its parts and a legend. One <svg> element, as in plot.h.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// shares[bar][part] of 1; NaN and non-positive shares are not drawn. A remainder stays empty, an
/// excess over 1 is cut. At most eight parts have distinct colours.
struct StackedBars {
  std::string title;
  std::vector<std::string> bars, parts;
  std::vector<std::vector<double>> shares;
};

/// "" without bars or parts. Each piece has a tooltip with its share.
std::string to_svg(const StackedBars& bars);

}  // namespace bench
