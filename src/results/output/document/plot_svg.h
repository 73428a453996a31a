// One series of a plot as a drawing.
#pragma once

#include <cstddef>
#include <string>

#include "results/output/document/plot.h"
#include "results/output/document/svg.h"

namespace bench {

struct Axes {
  Axis x, y;
  bool shows(double a, double b) const { return x.shows(a) && y.shows(b); }
  SvgPlace at(double a, double b) const { return {x.at(a), y.at(b)}; }
};

/// `number`: in the plot; gives the colour.
std::string svg_series(const PlotSeries& series, std::size_t number, const Axes& axes);

}  // namespace bench
