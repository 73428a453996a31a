#include "results/reports/curve.h"

#include <algorithm>
#include <set>

namespace bench {
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
