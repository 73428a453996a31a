// Plots as SVG, without scripts or external resources, so they work offline, in print and in
// archives. Each is one <svg> element for use in a page (results/pages, which sets light and dark
// colours) or a separate file. Text is always escaped.
#pragma once

#include <string>
#include <vector>

namespace bench {

// Stacked bars: one bar per whole with its parts and a legend. One <svg> element, as in plot.h.

/// shares[bar][part] of 1; NaN and non-positive shares are not drawn. A remainder stays empty, an
/// excess over 1 is cut. At most eight parts have distinct colours.
struct StackedBars {
  std::string title;
  std::vector<std::string> bars, parts;
  std::vector<std::vector<double>> shares;
};

/// "" without bars or parts. Each piece has a tooltip with its share.
std::string to_svg(const StackedBars& bars);

enum class Mark { line, points, line_points, steps };

struct PlotSeries {
  std::string name;  // "" stays out of the legend
  /// In order of x; equally many. A value that is not finite, or not positive on a logarithmic
  /// axis, leaves a gap.
  std::vector<double> x, y;
  /// Empty, or one for each y: a band under lines, bars at points.
  std::vector<double> low = {}, high = {};
  Mark mark = Mark::line;
};

/// A line across: a limit, a threshold, the night of a change.
struct PlotRule {
  std::string name;
  double at = 0.0;
  bool vertical = false;
};

struct Plot {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<PlotSeries> series = {};
  std::vector<PlotRule> rules = {};
};

/// Different numbers of x and y values are an internal error. Long lines are reduced to the
/// extremes per pixel.
std::string to_svg(const Plot& plot);

/// values[row][column], NaN if missing (drawn as missing). Colours run from `middle - reach`
/// (worse, orange) over `middle` to `middle + reach` (blue); values beyond are clamped.
struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;
  double middle = 0.0, reach = 0.0;
};

/// Up to a thousand cells have tooltips; above 150 rows the rows are thin and only some are
/// labelled.
std::string to_svg(const HeatMap& map);

}  // namespace bench
