// One side of a comparison, read from a file written by `benchctl export`.
#include <cmath>

#include "core/error.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "results/compare/exported_rows.h"
#include "results/compare/side.h"

namespace bench {
namespace {

bool starts_with_any(const std::string& metric, const std::vector<std::string>& beginnings) {
  for (const std::string& beginning : beginnings)
    if (metric.starts_with(beginning)) return true;
  return beginnings.empty();
}

Point point_of_row(const Json& row, std::int64_t run) {
  const double median = number_field(row, "median", number_field(row, "value"));
  return {.run = run,
          .value = median,
          .low = number_field(row, "low"),
          .high = number_field(row, "high"),
          .of_limit = number_field(row, "of_limit"),
          .clock_hz = number_field(field(row, "quality"), "clock_hz")};
}

/// As in run_values(); missing fields default to usable.
bool counts_in_file(const Json& row, const Point& point) {
  return !text_field(row, "metric").empty() && text_field(row, "outcome", "ok") == "ok" &&
         number_field(row, "clean", 1.0) > 0.0 && std::isfinite(point.value);
}

SeriesKey key_of_row(const Json& row) {
  SeriesKey key{.metric = text_field(row, "metric"),
                .params = object_field(row, "params"),
                .host = text_field(row, "host"),
                .device = text_field(row, "device", "host"),
                .ranks = static_cast<int>(integer_field(row, "ranks", 1)),
                .unit = unit_from(text_field(row, "unit")),
                .better = better_from(text_field(row, "better")),
                .over = text_field(row, "over", "rank")};
  const std::string part = text_field(key.params, "device");
  if (!part.empty()) {
    key.device = part;
    key.params.erase("device");
  }
  if (key.over == "rank" && key.ranks > 1 && row.contains("rank")) key.params["rank"] = row["rank"];
  return key;
}

/// Several rows of one run are repeats, and one value.
void combine_repeats(const std::string& metric, std::vector<Point>& points) {
  std::map<std::int64_t, std::vector<Point>> of_runs;
  for (const Point& point : points) of_runs[point.run].push_back(point);
  points.clear();
  for (const auto& [run, repeats] : of_runs) {
    std::vector<double> values;
    for (const Point& point : repeats) values.push_back(point.value);
    points.push_back(repeats.front());
    if (repeats.size() == 1) continue;
    points.back().value = combined(values, declaration(metric).repeats);
    points.back().low = quantile(values, 0.0);
    points.back().high = quantile(values, 1.0);
  }
}

}  // namespace

Side side_of_rows(const std::vector<Json>& rows, const std::string& name,
                  const std::vector<std::string>& metrics) {
  Side side{.name = name};
  std::map<std::string, std::int64_t> runs;
  for (const Json& row : rows) {
    const auto [slot, is_new] =
        runs.try_emplace(text_field(row, "run"), static_cast<std::int64_t>(runs.size()) + 1);
    const Point point = point_of_row(row, slot->second);
    if (!counts_in_file(row, point) || !starts_with_any(text_field(row, "metric"), metrics))
      continue;
    const SeriesKey key = key_of_row(row);
    side.metrics[metric_key(key)][{key.host, key.device}].push_back(point);
  }
  for (auto& [key, units] : side.metrics)
    for (auto& [unit, points] : units) combine_repeats(key.metric, points);
  side.runs = runs.size();
  if (side.metrics.empty())
    throw Error(ErrorKind::input, printable(name) + " has no usable values",
                "use the output of `benchctl export json|jsonl RUN`");
  return side;
}

Side read_file_side(const std::string& path, const std::vector<std::string>& metrics) {
  return side_of_rows(exported_rows(path), path, metrics);
}

}  // namespace bench
