#include "results/verdicts/compare/ladder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/disclaimer.h"
#include "core/text.h"
#include "results/verdicts/compare/compared_values.h"
#include "results/verdicts/compare/one_metric.h"

namespace bench {
namespace {

std::optional<double> price_of_side(const Side& side, const Prices& prices) {
  std::set<std::optional<double>> found;
  for (const std::string& product : hardware_of(side))
    found.insert(
        price_of(prices, [&](const std::string& name) { return contains_words(product, name); }));
  return found.size() == 1 ? *found.begin() : std::nullopt;
}

}  // namespace

std::optional<double> price_of(const Prices& prices,
                               const std::function<bool(const std::string&)>& matches) {
  std::optional<double> price;
  std::size_t longest = 0;
  for (const auto& [name, dollars] : prices)
    if (name.size() > longest && matches(name)) {
      longest = name.size();
      price = dollars;
    }
  return price;
}

void set_prices(std::vector<Side>& sides, const Prices& prices) {
  if (sides.size() == 2 && hardware_of(sides[0]) == hardware_of(sides[1])) return;
  for (Side& side : sides) side.price = price_of_side(side, prices);
}

namespace {

constexpr double kSecondsOfHour = 3600.0;

/// A side whose workloads are merged over rank counts, with the ranks of each.
struct Rung {
  Side side;
  std::map<MetricKey, std::set<int>> ranks;
};

Rung rung_of(const Side& side) {
  Rung rung;
  rung.side.name = side.name;
  rung.side.runs = side.runs;
  rung.side.price = side.price;
  rung.side.configurations = side.configurations;
  for (const auto& [key, units] : side.metrics) {
    MetricKey joined = key;
    if (resource_of(key.metric) == Resource::workload) {
      Json params = try_parse_json(key.params).value_or(Json());
      for (const char* name : {"hosts", "ranks"}) params.erase(name);
      joined.params = dump(params);
      joined.ranks = 0;
    }
    rung.ranks[joined].insert(key.ranks);
    for (const auto& [unit, points] : units) {
      // The same job on other hosts counts as the same.
      auto& values = rung.side.metrics[joined][joined.ranks == 0 ? UnitOfHost{} : unit];
      values.insert(values.end(), points.begin(), points.end());
    }
  }
  return rung;
}

SpeedUp speed_up(const ComparedMetric& metric) {
  SpeedUp found{metric.ratio, metric.low, metric.high, metric.verdict, metric.why};
  if (metric.key.better != Better::lower) return found;
  found.ratio = 1.0 / metric.ratio;
  found.low = 1.0 / metric.high;
  found.high = 1.0 / metric.low;
  return found;
}

std::string why_ladder_inconclusive(const ComparedMetric& metric) {
  return metric.basis == Basis::none ? "too few runs for a confidence interval" : "noise";
}

SpeedUp between(const MetricKey& key, const ValuesOfUnits& a, const ValuesOfUnits& b,
                const CompareOptions& options) {
  ComparedMetric metric = compare_metric(key, a, b, options);
  if (metric.verdict == ChangeVerdict::inconclusive && metric.why.empty())
    metric.why = why_ladder_inconclusive(metric);
  return speed_up(metric);
}

void set_cost(LadderStep& step, const LadderStep& first, const MetricKey& key) {
  if (key.unit == Unit::second) step.time_s = step.value;
  if (step.ranks == 0) return;
  const double devices = step.ranks;
  step.cost = step.price * devices * step.time_s / kSecondsOfHour;  // NaN if a factor is unknown
  if (first.ranks == 0) return;
  const double faster = std::isfinite(step.cumulative.ratio) ? step.cumulative.ratio : 1.0;
  step.relative_cost = devices / first.ranks / faster;
}

LadderMetric climb(const MetricKey& key, const std::vector<Rung>& rungs,
                   const CompareOptions& options) {
  LadderMetric metric{
      .key = key, .params = try_parse_json(key.params).value_or(Json()), .steps = {}};
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const ValuesOfUnits& values = rungs[i].side.metrics.at(key);
    const std::set<int>& ranks = rungs[i].ranks.at(key);
    const double value = side_values(values).value;
    LadderStep step{.name = rungs[i].side.name,
                    .value = value,
                    .ranks = ranks.size() == 1 ? *ranks.begin() : 0,
                    .individual = {},
                    .cumulative = {},
                    .price = rungs[i].side.price.value_or(kNoValue)};
    if (i > 0) {
      const Side &before = rungs[i - 1].side, &here = rungs[i].side;
      step.individual = between(key, before.metrics.at(key), values, options);
      step.cumulative = between(key, rungs[0].side.metrics.at(key), values, options);
      ChangedFacts facts(before, here);
      step.changed = facts.add(before.metrics.at(key), values);
      for (ChangedFact& fact : facts.facts()) step.changed.push_back(std::move(fact.change));
    }
    metric.steps.push_back(std::move(step));
    set_cost(metric.steps.back(), metric.steps.front(), key);
  }
  return metric;
}

}  // namespace

ExitCode Ladder::exit_code() const {
  if (metrics.empty()) return ExitCode::not_measured;
  for (const LadderMetric& metric : metrics)
    for (const LadderStep& step : metric.steps)
      if (step.individual.verdict == ChangeVerdict::regressed) return ExitCode::failed;
  return ExitCode::ok;
}

Ladder make_ladder(const std::vector<Side>& sides, const CompareOptions& options) {
  Ladder ladder;
  std::vector<Rung> rungs;
  for (const Side& side : sides) rungs.push_back(rung_of(side));
  for (const auto& [key, values] : rungs.front().side.metrics)
    if (key.better != Better::none && std::ranges::all_of(rungs, [&key = key](const Rung& rung) {
          return rung.side.metrics.contains(key);
        }))
      ladder.metrics.push_back(climb(key, rungs, options));
  if (ladder.metrics.empty())
    ladder.warnings.push_back("no metric with the same parameters in every step");
  if (std::ranges::any_of(ladder.metrics, [](const LadderMetric& metric) {
        return mlperf::is_imported(metric.key.metric);
      }))
    ladder.warnings.emplace_back(mlperf::kImportedWarning);
  return ladder;
}

}  // namespace bench
