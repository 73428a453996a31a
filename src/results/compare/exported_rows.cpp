#include "results/compare/exported_rows.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/metric_names.h"
#include "core/text.h"
#include "core/units.h"
#include "results/json_fields.h"

namespace bench {
namespace {

[[noreturn]] void refuse_file(const std::string& origin, const std::string& why) {
  throw Error(ErrorKind::input, printable(origin) + ": " + why,
              "compare takes the output of `benchctl export json|jsonl RUN`; use `benchctl import` for other files");
}

/// unit and better are closed lists: a word outside them is refused here, with its place.
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
  const Json first = Json::parse(text.substr(0, text.find('\n')), nullptr, false);
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

}  // namespace bench
