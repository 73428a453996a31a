#include "results/output/mlperf/published_scaling_output.h"

#include <fmt/format.h>

#include <cmath>

#include "core/disclaimer.h"
#include "core/text.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/output/mlperf/score_words.h"
#include "results/output/verdicts/scaling_output.h"
#include "results/verdicts/published/published_scaling.h"

namespace bench::mlperf {

std::string format_share(double share) {
  return std::isfinite(share) ? fmt::format("{:.0f} %", 100.0 * share) : "";
}

std::string series_title(const PublishedSeries& series) {
  std::string title = series.benchmark + " of " + series.submitter;
  if (!series.accelerator.empty()) title += " on " + series.accelerator;
  return series.division == "closed" ? title : title + ", division " + series.division;
}

std::string scaling_legend() {
  return fmt::format(
      "minutes: olympic mean of the raw times; score = minutes times the factor "
      "of the convergence test; time efficiency = throughput efficiency / "
      "penalty, where penalty is the extra samples that a larger batch needs. "
      "Efficiencies and figures per accelerator: {}.",
      kDerived);
}

std::string format_samples(double samples) {
  if (!std::isfinite(samples)) return "";
  return samples == std::floor(samples) ? fmt::format("{:.0f}", samples)
                                        : fmt::format("{:.4g}", samples);
}

namespace {

Json fields_of_point(const PublishedPoint& point, const PublishedScaling& scaling) {
  const PublishedEntry& entry = scaling.entries[point.entry];
  Json slower = Json::array();
  for (const std::size_t other : point.slower) slower.push_back(scaling.entries[other].system);
  return {{"system", entry.system},
          {"system_name", entry.description.system_name},
          {"minutes", entry.olympic_minutes},
          {"scaling_factor", entry.scaling_factor},
          {"score_minutes", entry.score_minutes},
          {"global_batch_size", entry.global_batch_size},
          {"samples_to_target", entry.samples},
          {"samples_per_second", samples_per_second(entry)},
          {"throughput_efficiency", point.throughput_efficiency},
          {"convergence_penalty", point.convergence_penalty},
          {"accelerator_hours", point.accelerator_hours},
          {"left_out_systems", std::move(slower)}};
}

}  // namespace

Json to_json(const PublishedScaling& scaling) {
  ScalingReport curves;
  curves.over = "accelerators";
  curves.warnings = scaling.warnings;
  curves.exit_code = scaling.exit_code;
  for (const PublishedSeries& series : scaling.series) curves.curves.push_back(series.curve);
  Json json = bench::to_json(curves);
  json["notice"] = kNotVerified;
  json["derived"] = Json::object();
  for (const char* key : {"efficiency", "throughput_efficiency", "convergence_penalty",
                          "accelerator_hours", "samples_per_second", "predictions"})
    json["derived"][key] = kDerived;
  json["single"] = scaling.single;
  for (std::size_t i = 0; i < scaling.series.size(); ++i) {
    const PublishedSeries& series = scaling.series[i];
    Json& one = json["series"][i];
    one["submitter"] = series.submitter;
    one["benchmark"] = series.benchmark;
    one["division"] = series.division;
    one["accelerator"] = series.accelerator;
    one["samples_unit"] = scaling.entries[series.points.front().entry].samples_unit;
    for (std::size_t p = 0; p < series.points.size(); ++p)
      one["points"][p].update(fields_of_point(series.points[p], scaling));
  }
  return json;
}

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
  PageTable table{{"accelerators", "system", "minutes (raw)", "score (minutes)", "time efficiency",
                   "throughput efficiency", "penalty", "batch",
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
    text += fmt::format(
        "No submitter has results for a benchmark at two accelerator counts ({} at one).\n",
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
