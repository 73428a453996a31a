#include "results/output/verdicts/compare_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/fields.h"
#include "core/text.h"
#include "results/output/document/dot_plot.h"
#include "results/run/dimensions.h"

namespace bench {
namespace {

constexpr double kAsFactor = 0.25;  // larger changes read better as factors
constexpr std::size_t kDrawnMetrics = 30;
constexpr std::size_t kShownFacts = 12;
constexpr std::size_t kShownOnly = 6;
/// Long lists of parameters would push the numbers out of a terminal's table.
constexpr std::size_t kShownParams = 44;

/// "+2.1 % [+1.0, +3.2]" of a ratio and its interval; "x 1.62 [1.58, 1.66]" from a quarter on.
std::string change_text(double ratio, double low, double high) {
  if (!std::isfinite(ratio)) return "n/a";
  const bool factor = std::abs(ratio - 1.0) > kAsFactor;
  const bool interval = std::isfinite(low) && std::isfinite(high);
  if (factor)
    return fmt::format("x {:.3g}", ratio) +
           (interval ? fmt::format(" [{:.3g}, {:.3g}]", low, high) : "");
  const auto percent = [](double one) { return 100.0 * (one - 1.0); };
  return fmt::format("{:+.2f} %", percent(ratio)) +
         (interval ? fmt::format(" [{:+.2f}, {:+.2f}]", percent(low), percent(high)) : "");
}

std::string n_text(const ComparedMetric& metric) {
  if (metric.basis == Basis::pairs) return fmt::format("{} pairs", metric.pairs);
  return fmt::format("{}, {}", metric.a.n, metric.b.n);
}

std::string note_of(const ComparedMetric& metric) {
  std::vector<std::string> notes;
  if (!metric.why.empty()) notes.push_back(metric.why);
  if (std::isfinite(metric.mean_low))
    notes.push_back("by means, assuming Gaussian noise: " +
                    change_text(metric.ratio, metric.mean_low, metric.mean_high));
  if (metric.n_needed)
    notes.push_back(fmt::format("needs {} {}", *metric.n_needed,
                                metric.basis == Basis::pairs ? "pairs" : "runs per side"));
  if (!metric.cause.empty())
    notes.push_back((metric.cause == "clock" ? "explained by the clock" : metric.cause) +
                    ": per cycle " +
                    change_text(metric.per_cycle, metric.per_cycle_low, metric.per_cycle_high));
  for (const FactChange& change : metric.changed_settings)
    notes.push_back(fmt::format("{}: {} in A, {} in B", change.fact, change.before, change.after));
  return join(notes, "; ");
}

/// The parameters of metrics, with the number of ranks where the same metric has several.
class ShownParams {
 public:
  explicit ShownParams(const Comparison& comparison) {
    for (const ComparedMetric& metric : comparison.metrics)
      ranks_[{metric.key.metric, metric.key.params}].insert(metric.key.ranks);
  }
  Json of(const ComparedMetric& metric) const {
    Json params = metric.params;
    if (ranks_.at({metric.key.metric, metric.key.params}).size() > 1)
      params["ranks"] = metric.key.ranks;
    return params;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::set<int>> ranks_ = {};
};

std::string short_params(const Json& params) {
  std::string text = params_text(params);
  if (text.size() <= kShownParams) return text;
  text.resize(kShownParams - 3);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) text.pop_back();
  return text + "...";
}

DocumentCell factor_cell(double factor) { return numeric(factor, fmt::format("x {:.3g}", factor)); }

/// `all`: also the metrics that are equivalent. `whole`: parameters are not shortened, below the
/// metric.
DocumentTable metrics_table(const Comparison& comparison, bool all, bool whole) {
  DocumentTable table{{{"metric", false},
                       {"params", false, 1},
                       {"A", true, 3},
                       {"B", true, 3},
                       {"B vs. A"},
                       {"n", true, 2},
                       {"q", true, 4},
                       {"verdict", false},
                       {"A of limit", true, kPageOnly},
                       {"B of limit", true, kPageOnly},
                       {"per watt", true, kPageOnly},
                       {"per GPU", true, kPageOnly},
                       {"per dollar", true, kPageOnly}}};
  const ShownParams shown(comparison);
  for (const ComparedMetric& metric : comparison.metrics) {
    if (metric.verdict == ChangeVerdict::equivalent && !all) continue;
    const Json params = shown.of(metric);
    if (std::string note = note_of(metric); !note.empty())
      table.notes[table.rows.size()] = {{std::move(note), Tone::faint}};
    table.rows.push_back(
        {{.text = metric.key.metric, .detail = whole ? params_text(params) : ""},
         {whole ? "" : short_params(params)},
         value_cell(metric.a.value, metric.key.unit),
         value_cell(metric.b.value, metric.key.unit),
         {change_text(metric.ratio, metric.low, metric.high), metric.ratio},
         {n_text(metric)},
         numeric(metric.q, fmt::format("{:.2g}", metric.q)),
         {.text = to_upper(to_string(metric.verdict)), .tone = tone_of(metric.verdict)},
         share_cell(metric.a.of_limit),
         share_cell(metric.b.of_limit),
         factor_cell(metric.per_watt),
         factor_cell(metric.per_gpu),
         factor_cell(metric.per_dollar)});
  }
  return table;
}

/// Hosts that changed by themselves, whatever the typical host did.
void add_changed_hosts(Document& document, const Comparison& comparison) {
  DocumentTable table{{{"host", false},
                       {"device", false},
                       {"metric", false},
                       {"params", false, 1},
                       {"B vs. A"},
                       {"q", true, 4},
                       {"verdict", false}}};
  const ShownParams shown(comparison);
  for (const ComparedMetric& metric : comparison.metrics)
    for (const HostChange& host : metric.hosts)
      table.rows.push_back(
          {{host.unit.first},
           {host.unit.second},
           {metric.key.metric},
           {short_params(shown.of(metric))},
           {change_text(host.ratio, host.low, host.high), host.ratio},
           numeric(metric.host_q, fmt::format("{:.2g}", metric.host_q)),
           {.text = to_upper(to_string(host.verdict)), .tone = tone_of(host.verdict)}});
  if (table.rows.empty()) return;
  document.add(Heading{"Hosts that changed by themselves"}).add(std::move(table));
}

/// Order of the plot: what regressed first, then by the change in tolerances.
std::pair<bool, double> weight_of(const ComparedMetric& metric) {
  const double change =
      std::abs(std::log(metric.ratio)) / (std::isfinite(metric.threshold) ? metric.threshold : 1.0);
  return {metric.verdict == ChangeVerdict::regressed, std::isfinite(change) ? change : -1.0};
}

/// The metrics that changed most, with their intervals; faster is to the right.
std::string changes_svg(const Comparison& comparison) {
  std::vector<const ComparedMetric*> metrics;
  for (const ComparedMetric& metric : comparison.metrics)
    if (metric.ratio > 0.0 && metric.key.better != Better::none) metrics.push_back(&metric);
  std::ranges::stable_sort(metrics, std::greater<>(),
                           [](const ComparedMetric* metric) { return weight_of(*metric); });
  if (metrics.size() > kDrawnMetrics) metrics.resize(kDrawnMetrics);
  const ShownParams shown(comparison);
  std::vector<std::pair<std::string, Json>> keys;
  for (const ComparedMetric* metric : metrics)
    keys.emplace_back(metric->key.metric, shown.of(*metric));
  const std::vector<std::string> labels = short_names(keys);
  DotPlot plot{"B against A, with 95 % confidence intervals",
               "work done by B for the same time, % more than A (right is better)",
               {}};
  for (const ComparedMetric* metric : metrics) {
    const bool inverse = metric->key.better == Better::lower;
    const auto percent = [&](double ratio) {
      return 100.0 * ((inverse ? 1.0 / ratio : ratio) - 1.0);
    };
    Dot dot{"", percent(metric->ratio), metric->verdict == ChangeVerdict::regressed};
    if (metric->low > 0.0 && metric->high > 0.0)
      std::tie(dot.low, dot.high) = std::minmax({percent(metric->low), percent(metric->high)});
    DotRow row{.name = with_dimensions(metric->key.metric, shown.of(*metric)),
               .dots = {dot},
               .label = labels[plot.rows.size()]};
    if (std::isfinite(metric->threshold)) {
      row.low = -100.0 * metric->threshold;
      row.high = 100.0 * metric->threshold;
    }
    plot.rows.push_back(std::move(row));
  }
  return to_svg(plot);
}

std::string bound_by(const ComparedMetric& metric, double ratio,
                     const std::vector<ResourceRatio>& resources) {
  std::string text(to_string(metric.resource));
  if (metric.resource == Resource::workload)
    if (const std::string from = follows(ratio, resources); !from.empty())
      text += " (scales with " + from + ")";
  return text;
}

/// Efficiency of two kinds of hardware: share of limits, work per watt, GPU and dollar, and which
/// resource a workload scales with. Nothing unless hardware differs or prices are given.
void add_efficiency(Document& document, const Comparison& comparison) {
  const bool priced = std::ranges::any_of(comparison.metrics, [](const ComparedMetric& metric) {
    return std::isfinite(metric.per_dollar);
  });
  if (comparison.hardware_a == comparison.hardware_b && !priced) return;
  const auto resources = resource_ratios(comparison);
  DocumentTable table{{{"metric", false},
                       {"params", false, 1},
                       {"bound by", false},
                       {"A of limit"},
                       {"B of limit"},
                       {"work"},
                       {"per watt"},
                       {"per GPU"},
                       {"per dollar"}}};
  const ShownParams shown(comparison);
  for (const ComparedMetric& metric : comparison.metrics) {
    const double ratio = work_ratio(metric);
    if (!std::isfinite(ratio)) continue;
    table.rows.push_back({{metric.key.metric},
                          {params_text(shown.of(metric))},
                          {bound_by(metric, ratio, resources)},
                          share_cell(metric.a.of_limit),
                          share_cell(metric.b.of_limit),
                          factor_cell(ratio),
                          factor_cell(metric.per_watt),
                          factor_cell(metric.per_gpu),
                          factor_cell(metric.per_dollar)});
  }
  if (table.rows.empty()) return;
  document.add(Heading{"Efficiency"}).add(std::move(table));
  FactList means;
  for (const ResourceRatio& one : resources)
    means.rows.emplace_back(
        std::string(to_string(one.resource)),
        fmt::format("x {:.3g}, geometric mean of {} metrics of {} in {} ({} is better)", one.ratio,
                    one.metrics, one.device, to_string(one.unit), to_string(one.better)));
  document.add(std::move(means));
}

FactList sides_of(const Comparison& comparison) {
  const auto side = [](const std::string& name, std::size_t runs) {
    return fmt::format("{} ({} {})", name, runs, runs == 1 ? "run" : "runs");
  };
  FactList facts{
      {{"A", side(comparison.a, comparison.runs_a)}, {"B", side(comparison.b, comparison.runs_b)}}};
  if (!comparison.hardware_a.empty() || !comparison.hardware_b.empty())
    facts.rows.emplace_back("hardware",
                            comparison.hardware_a + " in A, " + comparison.hardware_b + " in B");
  if (comparison.price_a && comparison.price_b)
    facts.rows.emplace_back("prices",
                            fmt::format("{:.4g} in A, {:.4g} in B (dollars per device-hour)",
                                        *comparison.price_a, *comparison.price_b));
  return facts;
}

DocumentTable facts_table(const Comparison& comparison) {
  DocumentTable table{
      .columns = {{"fact", false}, {"A", false}, {"B", false}, {"hosts or devices"}},
      .most = kShownFacts};
  for (const auto& [change, units] : comparison.facts)
    table.rows.push_back({{change.fact}, {change.before}, {change.after}, count_cell(units)});
  return table;
}

void add_only(Document& document, const char* side, const std::vector<std::string>& titles) {
  if (titles.empty()) return;
  document.add(Heading{fmt::format("Only in {} ({} metrics)", side, titles.size())});
  ItemList list{.items = {}, .most = kShownOnly};
  for (const std::string& title : titles) list.items.push_back({title});
  document.add(std::move(list));
}

/// "24 metrics: 2 regressed, 22 equivalent; ..."
std::string summary_words(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const ChangeVerdict verdict :
       {ChangeVerdict::regressed, ChangeVerdict::improved, ChangeVerdict::changed,
        ChangeVerdict::equivalent, ChangeVerdict::inconclusive})
    if (const std::size_t count = comparison.count(verdict); count > 0)
      parts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  std::string text =
      fmt::format("{} metrics: {}; {} tested as one family with a 5 % false discovery rate",
                  comparison.metrics.size(), join(parts, ", "), comparison.tested);
  const std::size_t hosts = comparison.count_hosts(ChangeVerdict::regressed);
  if (hosts > 0) text += fmt::format("; regressions of single hosts: {}", hosts);
  if (comparison.derived > 0)
    text += fmt::format("; {} derived metrics omitted", comparison.derived);
  return text;
}

/// The greatest regressions, those of single hosts, then the greatest improvements.
ItemList main_changes(const Comparison& comparison) {
  constexpr std::size_t kMost = 3;
  const ShownParams shown(comparison);
  ItemList list;
  for (const ChangeVerdict verdict : {ChangeVerdict::regressed, ChangeVerdict::improved}) {
    if (verdict == ChangeVerdict::improved)
      for (const ComparedMetric& metric : comparison.metrics)
        for (const HostChange& host : metric.hosts)
          if (host.verdict == ChangeVerdict::regressed && list.items.size() < kMost)
            list.items.push_back({{{{"regressed", Tone::bad},
                                    {fmt::format(" on {} {}: {} {}", host.unit.first,
                                                 host.unit.second, metric.key.metric,
                                                 change_text(host.ratio, host.low, host.high))}}}});
    std::vector<const ComparedMetric*> metrics;
    for (const ComparedMetric& metric : comparison.metrics)
      if (metric.verdict == verdict) metrics.push_back(&metric);
    std::ranges::stable_sort(metrics, std::greater<>(),
                             [](const ComparedMetric* metric) { return weight_of(*metric); });
    for (const ComparedMetric* metric : metrics) {
      if (list.items.size() == kMost) return list;
      const std::string params = short_params(shown.of(*metric));
      list.items.push_back(
          {{{{std::string(to_string(verdict)), tone_of(verdict)},
             {fmt::format(": {}{} {}", metric->key.metric,
                          params.empty() ? "" : " (" + params + ")",
                          change_text(metric->ratio, metric->low, metric->high))}}}});
    }
  }
  return list;
}

std::string next_step_of(const Comparison& comparison) {
  const std::size_t open = comparison.count(ChangeVerdict::inconclusive);
  if (open == 0) return "";
  if (std::min(comparison.runs_a, comparison.runs_b) < 4)
    return fmt::format(
        "{} metrics are open: compare at least four runs a side "
        "(label:NAME=VALUE takes all runs with a label)",
        open);
  return fmt::format("{} metrics are open: repeat both sides on idle hosts", open);
}

Headline headline_of(const Comparison& comparison) {
  const ExitCode code = comparison.exit_code();
  const std::string verdict = code == ExitCode::failed         ? "REGRESSED"
                              : code == ExitCode::not_measured ? "NOT JUDGED"
                                                               : "NO REGRESSION";
  return {verdict, tone_of(code), summary_words(comparison), main_changes(comparison),
          next_step_of(comparison)};
}

}  // namespace

Tone tone_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::regressed:
      return Tone::bad;
    case ChangeVerdict::improved:
      return Tone::good;
    case ChangeVerdict::equivalent:
      return Tone::none;
    default:
      return Tone::unsure;
  }
}

std::string params_text(const Json& params) {
  std::vector<std::string> parts;
  if (!params.is_object()) return "";
  for (const auto& [name, value] : params.items()) {
    if (value.is_string())
      parts.push_back(value.get<std::string>());
    else if (!value.is_boolean())
      parts.push_back(name + " " + text_of(value));
    else if (value.get<bool>())
      parts.push_back(name);
  }
  return join(parts, ", ");
}

Document to_document(const Comparison& comparison, bool all) {
  Document document{.title = "Comparison"};
  document.add(headline_of(comparison)).add(sides_of(comparison));
  if (std::string svg = changes_svg(comparison); !svg.empty())
    document.add(Heading{"Changes"}, Audience::page)
        .add(Figure{std::move(svg),
                    "Grey: within the tolerance. Orange: regressed. The metrics "
                    "that changed most."});
  if (!comparison.facts.empty())
    document.add(Heading{"Changed facts"}).add(facts_table(comparison));
  document.add(Heading{"Metrics"}, Audience::page);
  document.add(metrics_table(comparison, all, false), Audience::terminal);
  document.add(metrics_table(comparison, true, true), Audience::page);
  add_changed_hosts(document, comparison);
  add_efficiency(document, comparison);
  add_only(document, "A", comparison.only_a);
  add_only(document, "B", comparison.only_b);
  for (const std::string& warning : comparison.warnings) document.add(Note{warning, "warning"});
  document.add(Paragraph{{summary_words(comparison), tone_of(comparison.exit_code())}},
               Audience::terminal);
  return document;
}

namespace {

Json side_json(const SideValues& side) {
  return {{"value", number_or_null(side.value)},
          {"n", side.n},
          {"units", side.units},
          {"of_limit", number_or_null(side.of_limit)},
          {"clock_hz", number_or_null(side.clock_hz)},
          {"power_w", number_or_null(side.power_w)}};
}

Json host_json(const HostChange& host) {
  return {{"host", host.unit.first},
          {"device", host.unit.second},
          {"ratio", number_or_null(host.ratio)},
          {"low", number_or_null(host.low)},
          {"high", number_or_null(host.high)},
          {"p", number_or_null(host.p)},
          {"verdict", to_string(host.verdict)}};
}

Json metric_json(const ComparedMetric& metric) {
  Json otherwise = Json::array(), hosts = Json::array();
  for (const HostChange& host : metric.hosts) hosts.push_back(host_json(host));
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
          {"hosts", std::move(hosts)},
          {"hosts_tested", metric.hosts_tested},
          {"hosts_q", number_or_null(metric.host_q)},
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
