// Drawings of a report, made here as SVG: no script and nothing from elsewhere is needed to see
// them, offline, in print and after years. Each is one <svg> element that can stand in a page
// (results/pages, whose style gives it the colours of light and dark) or in a file of its own.
// All text is taken as text, never as markup.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

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

/// Series of another length of x than of y are an internal error. Lines of very many points keep
/// what can be seen: the lowest and highest of each pixel.
std::string to_svg(const Plot& plot);

/// values[row][column], NaN where there is none (drawn as such, not as a value). Colours run from
/// `middle - reach` (worse, orange) over `middle` to `middle + reach` (blue); what lies beyond has
/// the end's colour.
struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;
  double middle = 0.0, reach = 0.0;
};

/// Up to a thousand cells say their value when pointed at; above 150 rows the rows are thin, and
/// not each has its name.
std::string to_svg(const HeatMap& map);

}  // namespace bench
