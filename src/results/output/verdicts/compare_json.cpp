#include "results/output/verdicts/compare_json.h"

#include "core/fields.h"

namespace bench {
namespace {

Json side_json(const SideValues& side) {
  return {{"value", number_or_null(side.value)},
          {"n", side.n},
          {"units", side.units},
          {"of_limit", number_or_null(side.of_limit)},
          {"clock_hz", number_or_null(side.clock_hz)},
          {"power_w", number_or_null(side.power_w)}};
}

Json metric_json(const ComparedMetric& metric) {
  Json otherwise = Json::array();
  for (const FactChange& change : metric.changed_settings) otherwise.push_back(to_json(change));
  return {{"metric", metric.key.metric},
          {"params", metric.params},
          {"device", metric.key.device},
          {"ranks", metric.key.ranks},
          {"over", metric.key.over},
          {"resource", to_string(metric.resource)},
          {"unit", to_string(metric.key.unit)},
          {"better", to_string(metric.key.better)},
          {"a", side_json(metric.a)},
          {"b", side_json(metric.b)},
          {"basis", to_string(metric.basis)},
          {"pairs", metric.pairs},
          {"threshold", number_or_null(metric.threshold)},
          {"ratio", number_or_null(metric.ratio)},
          {"low", number_or_null(metric.low)},
          {"high", number_or_null(metric.high)},
          {"mean_low", number_or_null(metric.mean_low)},
          {"mean_high", number_or_null(metric.mean_high)},
          {"p", number_or_null(metric.p)},
          {"q", number_or_null(metric.q)},
          {"verdict", to_string(metric.verdict)},
          {"why", text_or_null(metric.why)},
          {"n_a", metric.a.n},
          {"n_b", metric.b.n},
          {"n_needed", metric.n_needed ? Json(*metric.n_needed) : Json()},
          {"per_cycle", number_or_null(metric.per_cycle)},
          {"per_cycle_low", number_or_null(metric.per_cycle_low)},
          {"per_cycle_high", number_or_null(metric.per_cycle_high)},
          {"cause", text_or_null(metric.cause)},
          {"per_watt", number_or_null(metric.per_watt)},
          {"per_gpu", number_or_null(metric.per_gpu)},
          {"per_dollar", number_or_null(metric.per_dollar)},
          {"asked_otherwise", std::move(otherwise)}};
}

Json price_json(const std::optional<double>& price) { return price ? Json(*price) : Json(); }

}  // namespace

Json to_json(const Comparison& comparison) {
  Json metrics = Json::array(), facts = Json::array();
  for (const ComparedMetric& metric : comparison.metrics) metrics.push_back(metric_json(metric));
  for (const ChangedFact& fact : comparison.facts) {
    facts.push_back(to_json(fact.change));
    facts.back()["units"] = fact.units;
  }
  Json counts = Json::object();
  for (const ChangeVerdict verdict :
       {ChangeVerdict::improved, ChangeVerdict::regressed, ChangeVerdict::equivalent,
        ChangeVerdict::changed, ChangeVerdict::inconclusive})
    counts[std::string(to_string(verdict))] = comparison.count(verdict);
  return {{"a", comparison.a},
          {"b", comparison.b},
          {"runs_a", comparison.runs_a},
          {"runs_b", comparison.runs_b},
          {"hardware_a", text_or_null(comparison.hardware_a)},
          {"hardware_b", text_or_null(comparison.hardware_b)},
          {"price_a", price_json(comparison.price_a)},
          {"price_b", price_json(comparison.price_b)},
          {"tested", comparison.tested},
          {"derived", comparison.derived},
          {"counts", std::move(counts)},
          {"metrics", std::move(metrics)},
          {"only_a", comparison.only_a},
          {"only_b", comparison.only_b},
          {"facts", std::move(facts)},
          {"warnings", comparison.warnings},
          {"exit_code", static_cast<int>(comparison.exit_code())}};
}

}  // namespace bench
