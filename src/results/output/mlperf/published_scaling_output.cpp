#include "results/output/mlperf/published_scaling_output.h"

#include <fmt/format.h>

#include <cmath>

#include "core/disclaimer.h"
#include "results/output/document/plot.h"
#include "results/output/mlperf/score_output.h"
#include "results/output/verdicts/scaling_output.h"

namespace bench::mlperf {
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

/// "llama31_8b of NVIDIA on NVIDIA Blackwell Ultra GPU (GB300)".
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

/// Integers unchanged, other numbers with four digits.
DocumentCell samples_cell(double samples) {
  const bool whole = samples == std::floor(samples);
  return numeric(samples, whole ? fmt::format("{:.0f}", samples) : fmt::format("{:.4g}", samples));
}

std::string minutes_range(const OlympicMean& seconds) {
  if (!std::isfinite(seconds.low)) return "";
  return fmt::format("[{}, {}]", format_minutes(seconds.low / 60.0),
                     format_minutes(seconds.high / 60.0));
}

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

std::vector<DocumentCell> point_cells(const PublishedPoint& point, const PublishedEntry& entry) {
  return {numeric(point.accelerators, fmt::format("{:g}", point.accelerators)),
          {entry.system},
          count_cell(entry.runs.size()),
          minutes_cell(entry.olympic_minutes),
          {minutes_range(olympic_seconds(entry))},
          minutes_cell(entry.score_minutes),
          numeric(point.efficiency.value, share_words(point.efficiency)),
          share_cell(point.throughput_efficiency, 0),
          numeric(point.convergence_penalty, fmt::format("x {:.3f}", point.convergence_penalty)),
          samples_cell(entry.global_batch_size),
          samples_cell(entry.samples),
          numeric(point.accelerator_hours, fmt::format("{:.4g}", point.accelerator_hours))};
}

DocumentTable points_of_series(const PublishedSeries& series, const PublishedScaling& scaling) {
  DocumentTable table{{{"accelerators"},
                       {"system", false, 7},
                       {"runs", true, 6},
                       {"minutes"},
                       {"interval", true, 5},
                       {"score"},
                       {"time efficiency"},
                       {"throughput"},
                       {"penalty"},
                       {"batch", true, 3},
                       {scaling.entries[series.points.front().entry].samples_unit, true, 4},
                       {"accelerator hours", true, 2}}};
  for (const PublishedPoint& point : series.points) {
    table.rows.push_back(point_cells(point, scaling.entries[point.entry]));
    for (const std::size_t slower : point.slower) {
      const PublishedEntry& other = scaling.entries[slower];
      table.notes[table.rows.size() - 1].emplace_back(
          fmt::format("also at {:g}: {}, {} minutes", point.accelerators, other.system,
                      format_minutes(other.olympic_minutes)),
          Tone::faint);
    }
  }
  return table;
}

}  // namespace

Document to_document(const PublishedScaling& scaling) {
  Document document{.title = "MLPerf scaling"};
  document.add(Paragraph{fmt::format("MLPerf scaling; results {}", kNotVerified)});
  if (scaling.series.empty())
    document.add(Note{fmt::format(
        "No submitter has results for a benchmark at two accelerator counts ({} at one).",
        scaling.single)});
  for (const PublishedSeries& series : scaling.series) {
    document.add(Heading{series_title(series)});
    document.add(points_of_series(series, scaling));
    document.add(Figure{efficiency_drawing(series), "Bars: " + series.curve.interval + "."});
    document.add(lines_of(fit_lines(series.curve)));
  }
  if (!scaling.series.empty()) document.add(Paragraph{scaling_legend()});
  for (const std::string& warning : scaling.warnings) document.add(Note{warning, "warning"});
  return document;
}

}  // namespace bench::mlperf
