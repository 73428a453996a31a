#include "runner/commands/predict/prediction_check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "runner/commands/selection_options.h"

namespace bench {
namespace {

std::optional<Unit> unit_of(PredictedUnit unit) {
  switch (unit) {
    case PredictedUnit::bytes:
      return Unit::byte;
    case PredictedUnit::seconds:
      return Unit::second;
    case PredictedUnit::bytes_per_second:
      return Unit::byte_per_second;
    case PredictedUnit::flops_per_second:
      return Unit::flop_per_second;
    case PredictedUnit::ratio:
      return Unit::ratio;
    case PredictedUnit::tokens_per_second:
    case PredictedUnit::count:
      return Unit::count;
    case PredictedUnit::flops:
      break;
  }
  return {};
}

struct MatchedSeries {
  Json params = Json::object();
  std::vector<double> values = {};
};

bool has_params(const Json& params, const Json& wanted) {
  for (const auto& [name, value] : wanted.items())
    if (!params.contains(name) || params.at(name) != value) return false;
  return true;
}

/// "in_place (false, true); size_bytes (1024, 4096)": in what the series differ.
std::string differences(const std::vector<MatchedSeries>& series) {
  std::map<std::string, std::set<std::string>> values;
  for (const MatchedSeries& one : series)
    for (const auto& [name, value] : one.params.items()) values[name].insert(text_of(value));
  std::vector<std::string> parameters;
  for (const auto& [name, different] : values)
    if (different.size() > 1)
      parameters.push_back(
          name + " (" + join(std::vector<std::string>(different.begin(), different.end()), ", ") +
          ")");
  return join(parameters, "; ");
}

/// {"size_bytes": 4096, "in_place": true, "op": "all_reduce"}
Json params_of(const std::vector<std::string>& conditions) {
  Json params = Json::object();
  for (const std::string& condition : conditions) {
    const auto equals = condition.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::usage, "'" + printable(condition) + "' is not KEY=VALUE",
                  "write a parameter of the series, such as --where size_bytes=4096");
    params[condition.substr(0, equals)] = value_of_text(condition.substr(equals + 1));
  }
  return params;
}

}  // namespace

PredictionCheck check_prediction(const Prediction& prediction, const Side& side,
                                 const MeasuredAs& measured_as) {
  std::vector<MatchedSeries> all, matched;
  for (const auto& [key, units] : side.metrics) {
    if (key.metric != measured_as.metric) continue;
    if (unit_of(prediction.unit) != key.unit)
      throw Error(
          ErrorKind::input,
          key.metric + " is in " + std::string(kUnits.name(key.unit)) + ", which the answer is not",
          "name another --metric");
    MatchedSeries series{parse_json(key.params, "parameters")};
    series.params["ranks"] = key.ranks;
    series.values = values_of(units);
    all.push_back(series);
    if ((measured_as.ranks == 0 || measured_as.ranks == key.ranks) &&
        has_params(series.params, measured_as.params))
      matched.push_back(std::move(series));
  }
  const std::string sought =
      measured_as.metric + (measured_as.params.empty() ? "" : " " + dump(measured_as.params)) +
      (measured_as.ranks > 0 ? " over " + std::to_string(measured_as.ranks) + " ranks" : "");
  if (matched.empty())
    throw Error(ErrorKind::input,
                "'" + printable(side.name) + "' has no measurement of " + printable(sought),
                all.empty() ? "check against a run that has the metric"
                            : "it has " + printable(differences(all)));
  if (matched.size() > 1 && !measured_as.fastest)
    throw Error(ErrorKind::input,
                "'" + printable(side.name) + "' has several measurements of " + printable(sought),
                "choose one by --where: " + printable(differences(matched)));
  const MatchedSeries& series = *std::ranges::min_element(
      matched, {}, [](const MatchedSeries& one) { return median(one.values); });
  const auto [least, most] = std::ranges::minmax(series.values);
  return {side.name,
          measured_as.metric,
          series.params,
          series.values.size(),
          median(series.values),
          least,
          most};
}

MeasuredAs measurement_sought(const Prediction& prediction, const PredictOptions& options) {
  MeasuredAs measured_as = prediction.measured_as;
  if (!options.metric.empty() && options.metric != measured_as.metric)
    measured_as = {.metric = options.metric};
  if (measured_as.metric.empty())
    throw Error(ErrorKind::usage,
                "no metric measures the answer to `predict " + prediction.question + "` by itself",
                "name one by --metric");
  measured_as.params.update(params_of(options.where));
  return measured_as;
}

PredictionCheck check_prediction(const Prediction& prediction, const PredictOptions& options) {
  const MeasuredAs measured_as = measurement_sought(prediction, options);
  const auto sides = read_sides(options, {options.check}, {measured_as.metric});
  return check_prediction(prediction, sides.front(), measured_as);
}

}  // namespace bench
