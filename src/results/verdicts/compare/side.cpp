#include "results/verdicts/compare/side.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/metric_names.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "core/units.h"

namespace bench {
namespace {

[[noreturn]] void refuse_file(const std::string& origin, const std::string& why) {
  throw Error(ErrorKind::input, printable(origin) + ": " + why,
              "compare takes the output of `benchctl export json|jsonl RUN`; use `benchctl import` "
              "for other files");
}

/// Unit and better are closed lists: any other word is refused with its place.
void check_row(const Json& row, const std::string& origin) {
  if (!row.is_object()) refuse_file(origin, "a result is not a JSON object: " + excerpt(row));
  if (!text_field(row, "metric").empty()) {
    unit_from(text_field(row, "unit"));
    better_from(text_field(row, "better"));
  }
  const std::int64_t ranks = integer_field(row, "ranks", 1);
  if (ranks < 1 || ranks > 100'000'000)
    refuse_file(origin, "invalid number of ranks: " + std::to_string(ranks));
}

/// A file of an older version has the old names of renamed metrics.
void rename_metric(Json& row) {
  if (const std::string metric = text_field(row, "metric"); !metric.empty())
    row["metric"] = current_metric_name(metric);
}

std::vector<Json> rows_of_lines(std::string_view text, const std::string& origin) {
  std::vector<Json> rows;
  for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = origin + ", line " + std::to_string(number);
    rows.push_back(parse_json(line, place));
    check_row(rows.back(), place);
    rename_metric(rows.back());
  }
  return rows;
}

/// Whether the first line is a result of its own (JSON Lines).
bool is_lines(const std::string& text) {
  const Json first = try_parse_json(text.substr(0, text.find('\n'))).value_or(Json());
  return first.is_object() && first.contains("metric");
}

}  // namespace

std::vector<Json> exported_rows_of(const std::string& text, const std::string& origin) {
  if (is_lines(text)) return rows_of_lines(text, origin);
  const Json report = parse_json(text, origin);
  if (!report.is_object() || !report.contains("results") || !report["results"].is_array())
    refuse_file(origin, "no `results` array");
  std::vector<Json> rows;
  for (Json row : report["results"]) {
    check_row(row, origin);
    rename_metric(row);
    row["run"] = text_field(report, "run");
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Json> exported_rows(const std::string& path) {
  return exported_rows_of(read_file(path), path);
}

namespace {

// One side of a comparison, read from a file written by `benchctl export`.

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
    if (!counts_in_file(row, point) || !is_selected(text_field(row, "metric"), metrics)) continue;
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

namespace {

bool is_same_metric(const SeriesKey& a, const SeriesKey& b) {
  return a.metric == b.metric && a.device == b.device && a.ranks == b.ranks && a.over == b.over &&
         a.unit == b.unit && a.better == b.better && a.params == b.params;
}

class Products {
 public:
  Products(const Histories& histories, std::string query, Side& side)
      : histories_(histories), query_(std::move(query)), side_(side) {}

  bool takes(std::int64_t configuration) {
    if (const auto known = known_.find(configuration); known != known_.end()) return known->second;
    Json facts = histories_.configuration(configuration);
    const bool fits = query_.empty() || contains_words(hardware_of(facts), query_);
    if (fits) side_.configurations[configuration] = std::move(facts);
    return known_[configuration] = fits;
  }

 private:
  const Histories& histories_;
  std::string query_;
  Side& side_;
  std::map<std::int64_t, bool> known_;
};

}  // namespace

std::vector<double> values_of(const ValuesOfUnits& units) {
  std::vector<double> values;
  for (const auto& [unit, points] : units)
    for (const Point& point : points) values.push_back(point.value);
  return values;
}

MetricKey metric_key(const SeriesKey& key) {
  return {key.metric, dump(key.params), kind_of_device(key.device), key.over, key.ranks,
          key.unit,   key.better};
}

MetricKey without_parameters(MetricKey key, const std::vector<std::string>& names) {
  Json params = try_parse_json(key.params).value_or(Json::object());
  for (const std::string& name : names) params.erase(name);
  key.params = dump(params);
  return key;
}

namespace {

std::vector<std::string> parameters_of(const std::vector<Side>& sides) {
  std::set<std::string> names;
  for (const Side& side : sides)
    for (const auto& [key, units] : side.metrics) {
      const Json params = try_parse_json(key.params).value_or(Json::object());
      for (const auto& [name, value] : params.items()) names.insert(name);
    }
  return {names.begin(), names.end()};
}

void ignore_parameters(Side& side, const std::vector<std::string>& names) {
  std::map<MetricKey, ValuesOfUnits> joined;
  std::map<MetricKey, std::string> whole;
  for (auto& [key, units] : side.metrics) {
    const MetricKey rest = without_parameters(key, names);
    if (!joined.emplace(rest, std::move(units)).second)
      throw Error(ErrorKind::input,
                  printable(side.name) + " has several series of " + key.metric +
                      " that differ only in what is ignored: " + printable(whole[rest]) + " and " +
                      printable(key.params),
                  "choose sides with one value of that parameter each");
    whole[rest] = key.params;
  }
  side.metrics = std::move(joined);
}

}  // namespace

void ignore_parameters(std::vector<Side>& sides, const std::vector<std::string>& names) {
  const std::vector<std::string> known = parameters_of(sides);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw Error(
          ErrorKind::input,
          "no series has the parameter '" + printable(name) + "'." + did_you_mean(name, known),
          "they have: " + join(known, ", "));
  for (Side& side : sides) ignore_parameters(side, names);
}

std::string hardware_of(const Json& configuration) {
  std::set<std::string> products;
  if (!configuration.is_object()) return "";
  for (const auto& [fact, text] : configuration.items())
    if (fact.starts_with("gpu.") && fact.ends_with(".name") && text.is_string())
      products.insert(text.get<std::string>());
  if (products.empty()) return text_field(configuration, "cpu_model");
  return join({products.begin(), products.end()}, " | ");
}

std::set<std::string> hardware_of(const Side& side) {
  std::set<std::string> products;
  for (const auto& [id, facts] : side.configurations) products.insert(hardware_of(facts));
  products.erase("");
  return products;
}

Side read_side(const Histories& histories, const Selector& selector,
               const std::vector<std::string>& metrics) {
  if (!selector.file.empty()) return read_file_side(selector.file, metrics);
  Side side{.name = selector.text};
  Selection selection = selector.selection;
  selection.metrics = metrics;
  Products products(histories, selector.hardware, side);
  std::set<std::int64_t> runs;
  SeriesKey last;  // series of one metric follow each other
  ValuesOfUnits* values = nullptr;
  histories.each(selection, [&](const SeriesHistory& history) {
    for (const Point& point : history.points) {
      if (!products.takes(point.configuration)) continue;
      if (values == nullptr || !is_same_metric(last, history.key)) {
        values = &side.metrics[metric_key(history.key)];
        last = history.key;
      }
      (*values)[{history.key.host, history.key.device}].push_back(point);
      runs.insert(point.run);
    }
  });
  side.runs = runs.size();
  if (side.metrics.empty())
    throw Error(ErrorKind::input, "'" + printable(selector.text) + "' selects no usable values",
                "values must be ok, have clean samples and come from runs that are not discarded: "
                "see `benchctl runs` and `benchctl list metrics`");
  return side;
}

}  // namespace bench
