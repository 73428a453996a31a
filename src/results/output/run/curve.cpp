#include "results/output/run/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "results/output/document/plot.h"
#include "results/output/run/result_cells.h"

namespace bench {
namespace {

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
  return dot == std::string::npos ? metric : metric.substr(dot + 1);
}

std::vector<DocumentColumn> curve_columns(const Curve& curve, const std::string& barred,
                                          const Scale& scale) {
  std::vector<DocumentColumn> list = {{dimension_title(curve.axis)}};
  for (const std::string& metric : curve.metrics) {
    list.push_back({last_name(metric)});
    list.push_back({"±", true, 2});
  }
  list.insert(
      list.end(),
      {{"n"}, {"clean"}, {"of limit"}, {last_name(barred) + scale.name(), false, 3}, {"", false}});
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

std::vector<DocumentCell> curve_row(const Curve& curve, double at, const std::string& barred,
                                    const Scale& scale, Footnotes& notes) {
  const auto& point = curve.points.at(at);
  std::vector<DocumentCell> row = {
      numeric(at, dimension_text(curve.axis, point.begin()->second->series.params[curve.axis]))};
  for (const std::string& metric : curve.metrics) {
    const Series* series = series_at(point, metric);
    row.push_back(series ? median_cell(*series) : DocumentCell{});
    row.push_back({.text = series ? half_width_text(*series) : "", .tone = Tone::faint});
  }
  const Series& least = least_clean(point);
  row.push_back(least.n > 0 ? numeric(static_cast<double>(least.n), std::to_string(least.n))
                            : DocumentCell{});
  row.push_back(notes.clean_cell(least));
  const Series* drawn = series_at(point, barred);
  row.push_back({drawn ? of_limit_text(*drawn) : ""});
  row.push_back({.bar = drawn ? scale.share(drawn->median) : kNoValue});
  if (drawn) notes.note_limit(*drawn);
  row.push_back(outcome_cell(*worst_of(point)));
  return row;
}

Plot curve_plot(const Curve& curve, const std::string& metric) {
  PlotSeries medians{.name = "", .x = {}, .y = {}, .mark = Mark::line_points};
  Unit unit = Unit::count;
  for (const auto& [at, point] : curve.points) {
    const Series* series = series_at(point, metric);
    if (series == nullptr || !std::isfinite(series->median)) continue;
    unit = series->unit;
    medians.x.push_back(at);
    medians.y.push_back(series->median);
    medians.low.push_back(series->low);
    medians.high.push_back(series->high);
  }
  const bool wide = !medians.x.empty() && medians.x.front() > 0.0 &&
                    medians.x.back() > kLinearRange * medians.x.front();
  return {.title = last_name(metric),
          .x_label = dimension_title(curve.axis),
          .y_label = std::string(to_string(unit)),
          .log_x = wide,
          .series = {std::move(medians)}};
}

}  // namespace

void add_curve(Document& document, const Curve& curve, Footnotes& notes) {
  const std::string barred = bar_metric(curve);
  const Scale scale(curve, barred);
  DocumentTable table{curve_columns(curve, barred, scale)};
  std::string last_reason;
  for (const auto& [at, point] : curve.points) {
    const std::string& reason = worst_of(point)->series.reason;
    if (!reason.empty() && reason != last_reason)
      table.notes[table.rows.size()].push_back({reason, Tone::unsure});
    last_reason = reason;
    table.rows.push_back(curve_row(curve, at, barred, scale, notes));
  }
  if (!curve.where.empty()) document.add(Lines{{dimension_list(curve.where)}});
  document.add(std::move(table));
  document.add(Figure{to_svg(curve_plot(curve, barred)),
                      barred + (curve.where.empty() ? "" : ", " + dimension_list(curve.where)) +
                          ": medians with 95 % intervals"});
}

namespace {

constexpr std::size_t kFewPoints = 6;

/// The numeric parameter with the most values: it must have a number in every row.
std::string find_axis(const Rows& rows, const Dimensions& dimensions) {
  std::string axis;
  std::size_t most = kFewPoints;
  for (const std::string& name : dimensions.varying) {
    std::set<double> values;
    bool numeric = true;
    for (std::size_t i = 0; i < rows.size() && numeric; ++i) {
      numeric = rows[i]->series.params.contains(name) && dimensions.of_row[i][name].is_number();
      if (numeric) values.insert(dimensions.of_row[i][name].get<double>());
    }
    if (!numeric || values.size() <= most) continue;
    most = values.size();
    axis = name;
  }
  return axis;
}

struct Part {
  Curve curve;
  Rows rows;
  bool unique = true;
};

void add_point(const Result* row, double at, Part& part) {
  part.rows.push_back(row);
  const std::string& metric = row->series.metric;
  auto& metrics = part.curve.metrics;
  if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.push_back(metric);
  part.unique = part.curve.points[at].emplace(metric, row).second && part.unique;
}

std::vector<Part> partition(const Rows& rows, const Dimensions& dimensions,
                            const std::string& axis) {
  std::vector<Part> parts;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json where = Json::object();
    for (const std::string& name : dimensions.varying)
      if (name != axis && dimensions.of_row[i].contains(name))
        where[name] = dimensions.of_row[i][name];
    const auto [slot, is_new] = known.try_emplace(dump(where), parts.size());
    if (is_new) {
      parts.emplace_back();
      parts.back().curve.axis = axis;
      parts.back().curve.where = std::move(where);
    }
    add_point(rows[i], dimensions.of_row[i][axis].get<double>(), parts[slot->second]);
  }
  return parts;
}

}  // namespace

Rows swept(const Rows& rows) {
  std::map<std::string, std::set<double>> values;
  for (const Result* row : rows)
    for (const auto& [name, value] : row->series.params.items())
      if (value.is_number()) values[name].insert(value.get<double>());
  const auto axis = std::ranges::max_element(
      values, {}, [](const auto& parameter) { return parameter.second.size(); });
  if (axis == values.end() || axis->second.size() <= kFewPoints) return rows;
  Rows with_it;
  for (const Result* row : rows)
    if (row->series.params.contains(axis->first)) with_it.push_back(row);
  return with_it;
}

Split find_curves(const Rows& rows, const Dimensions& dimensions) {
  const std::string axis = find_axis(rows, dimensions);
  if (axis.empty()) return {{}, rows};
  Split split;
  std::set<const Result*> shown;
  for (Part& part : partition(rows, dimensions, axis)) {
    if (!part.unique || part.curve.points.size() <= kFewPoints) continue;
    shown.insert(part.rows.begin(), part.rows.end());
    split.curves.push_back(std::move(part.curve));
  }
  for (const Result* row : rows)
    if (shown.count(row) == 0) split.rest.push_back(row);
  return split;
}

}  // namespace bench
