#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/mlperf/disclaimer.h"
#include "results/mlperf/published/published_scaling.h"
#include "results/mlperf/published/published_words.h"
#include "results/mlperf/score/score_words.h"
#include "results/pages/page.h"
#include "results/plots/plot.h"
#include "results/scaling/scaling_words.h"

namespace bench::mlperf {
namespace {

std::string efficiency_drawing(const PublishedSeries& series) {
  Plot plot{"Efficiency: " + series.benchmark + " of " + series.submitter, "accelerators",
            "efficiency", true};
  PlotSeries time{"time", {}, {}, {}, {}, Mark::line_points};
  PlotSeries throughput{"throughput", {}, {}, {}, {}, Mark::line_points};
  for (const PublishedPoint& point : series.points) {
    time.x.push_back(point.accelerators);
    time.y.push_back(point.efficiency.value);
    time.low.push_back(point.efficiency.low);
    time.high.push_back(point.efficiency.high);
    throughput.x.push_back(point.accelerators);
    throughput.y.push_back(point.throughput_efficiency);
  }
  plot.series = {std::move(time), std::move(throughput)};
  plot.rules.push_back({"ideal", 1.0});
  return to_svg(plot);
}

PageCell number_of(double value, const std::string& text) { return {text, value}; }

PageTable table_of_series(const PublishedSeries& series, const PublishedScaling& scaling) {
  PageTable table{{"accelerators", "system", "minutes (raw)", "score (minutes)",
                   "time efficiency", "throughput efficiency", "penalty", "batch",
                   scaling.entries[series.points.front().entry].samples_unit, "accelerator hours"},
                  {}};
  for (const PublishedPoint& point : series.points) {
    const PublishedEntry& entry = scaling.entries[point.entry];
    table.rows.push_back(
        {number_of(point.accelerators, fmt::format("{:g}", point.accelerators)),
         {entry.system},
         number_of(entry.olympic_minutes, format_minutes(entry.olympic_minutes)),
         number_of(entry.score_minutes, format_minutes(entry.score_minutes)),
         number_of(point.efficiency.value, share_words(point.efficiency)),
         number_of(point.throughput_efficiency, format_share(point.throughput_efficiency)),
         number_of(point.convergence_penalty,
                   std::isfinite(point.convergence_penalty)
                       ? fmt::format("x {:.3f}", point.convergence_penalty)
                       : ""),
         number_of(entry.global_batch_size, format_samples(entry.global_batch_size)),
         number_of(entry.samples, format_samples(entry.samples)),
         number_of(point.accelerator_hours, fmt::format("{:.4g}", point.accelerator_hours))});
  }
  return table;
}

}  // namespace

std::string to_html(const PublishedScaling& scaling) {
  Page page("MLPerf scaling");
  page.note("Results: " + std::string(kNotVerified) + ". " + scaling_legend());
  for (const std::string& warning : scaling.warnings) page.note(warning);
  if (scaling.series.empty())
    page.note("No submitter has results for a benchmark at two accelerator counts.");
  for (const PublishedSeries& series : scaling.series) {
    page.heading(series_title(series)).table(table_of_series(series, scaling));
    page.figure(efficiency_drawing(series), "Bars: " + series.curve.interval + ".");
    for (const std::string& line : fit_lines(series.curve)) page.text(line);
  }
  return page.html();
}

}  // namespace bench::mlperf
