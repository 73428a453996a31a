// Draws a curve: one line per point, metrics in columns, and a bar for the main metric.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/reports/curve.h"
#include "results/reports/result_cells.h"

namespace bench {
namespace {

constexpr std::size_t kBarCells = 24;
/// A range wider than this is drawn on a logarithmic scale.
constexpr double kLinearRange = 50.0;

const Series* series_at(const std::map<std::string, const Result*>& point,
                        const std::string& metric) {
  const auto found = point.find(metric);
  return found == point.end() ? nullptr : &found->second->series;
}

/// The main metric: one with a limit, else one where more is better, else the first.
std::string bar_metric(const Curve& curve) {
  std::string best = curve.metrics.front();
  int best_score = 0;
  for (const std::string& metric : curve.metrics) {
    int score = 0;
    for (const auto& [at, point] : curve.points)
      if (const Series* series = series_at(point, metric))
        score =
            std::max(score, (series->limit ? 2 : 0) + (series->better == Better::higher ? 1 : 0));
    if (score < best_score) continue;  // of equals the last: busbw after algbw
    best = metric;
    best_score = score;
  }
  return best;
}

/// From a value to the filled share of its bar.
class Scale {
 public:
  Scale(const Curve& curve, const std::string& metric) {
    for (const auto& [at, point] : curve.points) {
      const Series* series = series_at(point, metric);
      if (series == nullptr || !(series->median > 0.0)) continue;
      low_ = std::min(low_, series->median);
      high_ = std::max(high_, series->median);
    }
    logarithmic_ = high_ > kLinearRange * low_;
  }
  double share(double value) const {
    if (!(value > 0.0)) return 0.0;
    // The least value still has a tenth of a bar: an empty one would read as "nothing".
    return logarithmic_ ? 0.1 + 0.9 * std::log(value / low_) / std::log(high_ / low_)
                        : value / high_;
  }
  const char* name() const { return logarithmic_ ? " (log)" : ""; }

 private:
  double low_ = HUGE_VAL;
  double high_ = 0.0;
  bool logarithmic_ = false;
};

std::string last_name(const std::string& metric) {
  const auto dot = metric.find('.');
  return printable(dot == std::string::npos ? metric : metric.substr(dot + 1));
}

std::vector<Column> curve_columns(const Curve& curve, const std::string& barred, const Scale& scale,
                                  const TextStyle& style) {
  std::vector<Column> list = {{dimension_title(curve.axis), true, 0}};
  for (const std::string& metric : curve.metrics) {
    list.push_back({last_name(metric), true, 0});
    list.push_back({style.unicode ? "±" : "+-", true, 2});
  }
  list.push_back({"n", true, 0});
  list.push_back({"clean", true, 0});
  list.push_back({"of limit", true, 0});
  list.push_back({last_name(barred) + scale.name(), false, 3});
  list.push_back({"", false, 0});
  return list;
}

/// The result of the point that most needs to be talked about.
const Result* worst_of(const std::map<std::string, const Result*>& point) {
  const Result* worst = point.begin()->second;
  for (const auto& [metric, result] : point)
    if (worse(result->series.outcome, worst->series.outcome) != worst->series.outcome)
      worst = result;
  if (worst->series.outcome != Status::ok) return worst;
  for (const auto& [metric, result] : point)
    if (result->verdict &&
        (!worst->verdict || worse(*result->verdict, *worst->verdict) != *worst->verdict))
      worst = result;
  return worst;
}

/// The metrics of a point usually share their samples; show the least clean one.
const Series& least_clean(const std::map<std::string, const Result*>& point) {
  const Series* least = &point.begin()->second->series;
  for (const auto& [metric, result] : point)
    if (clean_share(result->series) < clean_share(*least)) least = &result->series;
  return *least;
}

}  // namespace

std::string curve_text(const Curve& curve, Footnotes& notes, const TextStyle& style) {
  const std::string barred = bar_metric(curve);
  const Scale scale(curve, barred);
  Table table(curve_columns(curve, barred, scale, style));
  std::string last_reason;
  for (const auto& [at, point] : curve.points) {
    std::vector<Cell> row = {
        {dimension_text(curve.axis, point.begin()->second->series.params[curve.axis]),
         Paint::none}};
    for (const std::string& metric : curve.metrics) {
      const Series* series = series_at(point, metric);
      const bool there = series != nullptr && std::isfinite(series->median);
      row.push_back({there ? format(series->median, series->unit) : "", Paint::bold});
      row.push_back({there ? half_width_text(*series) : "", Paint::dim});
    }
    const Series& least = least_clean(point);
    row.push_back({least.n > 0 ? std::to_string(least.n) : "", Paint::none});
    row.push_back(notes.clean_cell(least));
    const Series* drawn = series_at(point, barred);
    row.push_back({drawn ? of_limit_text(*drawn) : "", Paint::none});
    row.push_back({drawn ? bar(scale.share(drawn->median), kBarCells, style) : "", Paint::none});
    if (drawn) notes.note_limit(*drawn);
    const Result& worst = *worst_of(point);
    row.push_back(outcome_cell(worst));
    table.add(std::move(row));
    const std::string& reason = worst.series.reason;
    if (!reason.empty() && reason != last_reason) table.note(printable(reason), Paint::yellow);
    last_reason = reason;
  }
  const std::string title =
      curve.where.empty() ? ""
                          : std::string(kTableIndent - 2, ' ') + dimension_list(curve.where) + "\n";
  return title + table.render(kTableIndent, style);
}

}  // namespace bench
