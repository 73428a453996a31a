#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/reports/dimensions.h"
#include "results/scaling/scaling_output.h"
#include "results/scaling/scaling_words.h"

namespace bench {
namespace {

std::string value_words(double value, Unit unit) {
  return std::isfinite(value) ? format(value, unit) : "";
}

Table points_table(const ScalingCurve& curve) {
  Table table({{curve.over},
               {"runs", true, 3},
               {"value"},
               {"interval", true, 2},
               {"speedup", true, 4},
               {"efficiency"},
               {"Karp-Flatt", true, 1},
               {"communication", true, 5},
               {"samples", true, 6},
               {"time efficiency", true, 7}});
  for (const ScalePoint& point : curve.points)
    table.add(
        {{fmt::format("{:g}", point.n)},
         {std::to_string(point.values.size())},
         {value_words(point.value.value, curve.unit)},
         {range_words(point.value.low, point.value.high, curve.unit)},
         {fmt::format("{:.3g}", point.speed_up)},
         {share_words(point.efficiency)},
         {std::isfinite(point.karp_flatt) ? fmt::format("{:.4f}", point.karp_flatt) : ""},
         {share_words({point.communication})},
         {std::isfinite(point.samples_penalty) ? fmt::format("x {:.2f}", point.samples_penalty)
                                               : ""},
         {share_words({point.time_efficiency})}});
  return table;
}

std::string none_words(const ScalingReport& report) {
  return fmt::format(
      "No metric was measured at two values of {} ({} at one).\n  Use cases with scope \"ladder\" or several ranks_per_host, or --over NAME for a parameter such as threads.\n",
      printable(report.over), report.seen);
}

}  // namespace

std::string to_text(const ScalingReport& report, const TextStyle& style) {
  std::string text =
      paint("Scaling", Paint::bold, style) + "  runs " + printable(join(report.runs, ", ")) + "\n";
  if (report.curves.empty()) text += none_words(report);
  for (const ScalingCurve& curve : report.curves) {
    text += "\n" + paint(printable(title_of(curve)), Paint::bold, style) + "\n  " +
            wrap(law_words(curve), 2, 2, style) + "\n";
    text += points_table(curve).render(2, style);
    for (const std::string& line : fit_lines(curve)) text += "  " + wrap(line, 2, 4, style) + "\n";
    text += "  " + wrap(curve.interval, 2, 2, style) + "\n";
  }
  for (const std::string& warning : report.warnings)
    text += "warning: " + wrap(printable(warning), 9, 2, style) + "\n";
  return text;
}

}  // namespace bench
