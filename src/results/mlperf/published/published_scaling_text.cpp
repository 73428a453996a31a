#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/mlperf/disclaimer.h"
#include "results/mlperf/published/published_scaling.h"
#include "results/mlperf/published/published_words.h"
#include "results/mlperf/score/score_words.h"
#include "results/scaling/scaling_words.h"

namespace bench::mlperf {
namespace {

std::string minutes_range(const OlympicMean& seconds) {
  if (!std::isfinite(seconds.low)) return "";
  return fmt::format("[{}, {}]", format_minutes(seconds.low / 60.0),
                     format_minutes(seconds.high / 60.0));
}

Table points_of_series(const PublishedSeries& series, const PublishedScaling& scaling) {
  Table table({{"accelerators"},
               {"system", false, 7},
               {"runs", true, 6},
               {"minutes"},
               {"interval", true, 5},
               {"score"},
               {"efficiency"},
               {"throughput"},
               {"penalty"},
               {"batch", true, 3},
               {scaling.entries[series.points.front().entry].samples_unit, true, 4},
               {"accelerator hours", true, 2}});
  for (const PublishedPoint& point : series.points) {
    const PublishedEntry& entry = scaling.entries[point.entry];
    table.add({{fmt::format("{:g}", point.accelerators)},
               {printable(entry.system)},
               {std::to_string(entry.runs.size())},
               {format_minutes(entry.olympic_minutes)},
               {minutes_range(olympic_seconds(entry))},
               {format_minutes(entry.score_minutes)},
               {share_words(point.efficiency)},
               {format_share(point.throughput_efficiency)},
               {std::isfinite(point.convergence_penalty)
                    ? fmt::format("x {:.3f}", point.convergence_penalty)
                    : ""},
               {format_samples(entry.global_batch_size)},
               {format_samples(entry.samples)},
               {fmt::format("{:.4g}", point.accelerator_hours)}});
    for (const std::size_t other : point.slower)
      table.note(fmt::format("also at {:g}: {}, {} minutes", point.accelerators,
                             printable(scaling.entries[other].system),
                             format_minutes(scaling.entries[other].olympic_minutes)),
                 Paint::dim);
  }
  return table;
}

}  // namespace

std::string to_text(const PublishedScaling& scaling, const TextStyle& style) {
  std::string text =
      paint("MLPerf scaling", Paint::bold, style) + "  " + std::string(kNotVerified) + "\n";
  if (scaling.series.empty())
    text +=
        fmt::format("No submitter has results for a benchmark at two accelerator counts ({} at one).\n",
                    scaling.single);
  for (const PublishedSeries& series : scaling.series) {
    text += "\n" + paint(printable(series_title(series)), Paint::bold, style) + "\n";
    text += points_of_series(series, scaling).render(2, style);
    for (const std::string& line : fit_lines(series.curve))
      text += "  " + wrap(line, 2, 4, style) + "\n";
  }
  if (!scaling.series.empty()) text += "\n" + wrap(scaling_legend(), 0, 0, style) + "\n";
  for (const std::string& warning : scaling.warnings)
    text += "warning: " + wrap(warning, 9, 2, style) + "\n";
  return text;
}

}  // namespace bench::mlperf
