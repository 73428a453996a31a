#include "results/mlperf/disclaimer.h"
#include "results/mlperf/published/published_scaling.h"
#include "results/scaling/scaling_output.h"

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

}  // namespace bench::mlperf
