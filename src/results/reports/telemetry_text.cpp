#include "results/reports/telemetry_text.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "results/reports/merged_telemetry.h"

namespace bench {
namespace {

constexpr std::size_t kMostLines = 6;

/// One row for each stretch of time: metrics of one series share theirs.
Rows stretches(const Rows& rows) {
  Rows kept;
  std::set<std::string> seen;
  for (const Result* row : rows) {
    if (!row->telemetry) continue;
    const Series& series = row->series;
    const std::string params = row->telemetry->phase == "job" ? "" : dump(series.params);
    if (seen.insert(series.job + "\n" + params).second) kept.push_back(row);
  }
  return kept;
}

/// Labels that distinguish the rows with as few parameters as possible.
std::vector<std::string> labels(const Rows& rows) {
  const Dimensions dims = dimensions(rows);
  std::vector<Json> own(rows.size(), Json::object());
  std::vector<std::string> texts(rows.size());
  for (const std::string& name : dims.varying) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (dims.of_row[i].contains(name)) own[i][name] = dims.of_row[i][name];
      texts[i] = dimension_list(own[i]);
    }
    if (std::set<std::string>(texts.begin(), texts.end()).size() == rows.size()) break;
  }
  return texts;
}

std::string telemetry_line(const std::string& whose, const MergedTelemetry& merged,
                           std::size_t indent, const TextStyle& style) {
  const std::string what = merged.text();
  if (what.empty()) return "";
  return std::string(indent, ' ') +
         paint(wrap("telemetry" + whose + ": " + what, indent, indent + 2, style),
               merged.troubled() ? Paint::yellow : Paint::dim, style) +
         "\n";
}

}  // namespace

std::string telemetry_text(const Rows& rows, std::size_t indent, const TextStyle& style) {
  const Rows kept = stretches(rows);
  if (kept.empty()) return "";
  std::string text;
  if (kept.size() > kMostLines) {
    MergedTelemetry all;
    for (const Result* row : kept) all.add(*row->telemetry);
    return telemetry_line(fmt::format(" of {} series", kept.size()), all, indent, style);
  }
  const std::vector<std::string> names = labels(kept);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    MergedTelemetry one;
    one.add(*kept[i]->telemetry);
    const bool whole = kept[i]->telemetry->phase == "job";
    const std::string which = whole ? "the whole job" : names[i];
    text += telemetry_line(which.empty() ? "" : " of " + which, one, indent, style);
  }
  return text;
}

}  // namespace bench
