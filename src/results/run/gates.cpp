#include "results/run/gates.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "core/names.h"
#include "core/order_statistics.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr NameTable<Verdict, 3> kVerdicts{
    {{{Verdict::pass, "pass"}, {Verdict::fail, "fail"}, {Verdict::inconclusive, "inconclusive"}}}};

std::optional<double> bound(const Json& gate, const char* key) {
  const double value = number_field(gate, key);
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

Gate read_gate(const std::string& case_name, const Json& json) {
  return {case_name,
          text_field(json, "metric"),
          object_field(json, "where"),
          bound(json, "min"),
          bound(json, "max"),
          bound(json, "min_of_limit"),
          text_field(json, "band"),
          text_field(json, "source")};
}

bool same_metric(const Gate& gate, const Series& series) {
  return !series.metric.empty() &&
         (gate.metric == series.metric || series.probe + "." + gate.metric == series.metric);
}

bool matches(const Gate& gate, const Series& series) {
  if (gate.case_name != series.case_name || !same_metric(gate, series)) return false;
  for (const auto& [name, value] : gate.where.items())
    if (!series.params.contains(name) || series.params[name] != value) return false;
  return true;
}

struct Judgement {
  Verdict verdict;
  std::string reason;
};

Judgement at_least(Interval interval, double bound, const std::string& what) {
  if (interval.low >= bound) return {Verdict::pass, ""};
  if (interval.high < bound) return {Verdict::fail, "below " + what};
  return {Verdict::inconclusive, "confidence interval spans " + what};
}

Judgement at_most(Interval interval, double bound, const std::string& what) {
  if (interval.high <= bound) return {Verdict::pass, ""};
  if (interval.low > bound) return {Verdict::fail, "above " + what};
  return {Verdict::inconclusive, "confidence interval spans " + what};
}

void add(GateResult& result, const Judgement& judgement) {
  result.verdict = worse(result.verdict, judgement.verdict);
  if (judgement.reason.empty()) return;
  result.reason += (result.reason.empty() ? "" : "; ") + judgement.reason;
}

Judgement judge_limit(const Series& series, Interval interval, double bound) {
  const double a = of_limit(interval.low, series.better, series.limit);
  const double b = of_limit(interval.high, series.better, series.limit);
  return at_least({std::min(a, b), std::max(a, b)}, bound,
                  format(bound, Unit::ratio) + " of the limit");
}

/// Why this series cannot be judged; "" when it can.
std::string why_not_judged(const Gate& gate, const Series& series) {
  if (series.outcome != Status::ok)
    return fmt::format("{}: {}", to_string(series.outcome), series.reason);
  if (!std::isfinite(series.median)) return "no samples";
  if (!gate.min && !gate.max && !gate.min_of_limit) return "the gate has no bound";
  if (gate.min_of_limit && std::isnan(series.of_limit)) return "no limit known";
  return "";
}

GateResult judge(const Gate& gate, const Series& series, std::size_t index) {
  GateResult result{gate, Verdict::inconclusive, why_not_judged(gate, series), index, false};
  if (!result.reason.empty()) return result;
  result.measured = true;
  if (series.clean == 0) {  // a disturbed machine proves neither a good part nor a bad one
    result.reason = "no clean samples";
    return result;
  }
  result.judged = true;
  result.verdict = Verdict::pass;
  const Interval interval = interval_of(series);
  if (gate.min) add(result, at_least(interval, *gate.min, format(*gate.min, series.unit)));
  if (gate.max) add(result, at_most(interval, *gate.max, format(*gate.max, series.unit)));
  if (gate.min_of_limit) add(result, judge_limit(series, interval, *gate.min_of_limit));
  return result;
}

/// Jobs of the case with valid results of which nobody knows this derived figure: a resumed
/// training has no goodput. They are not judged, so they do not pass.
void add_jobs_without(const Gate& gate, const std::vector<const Series*>& all,
                      std::vector<GateResult>& results) {
  std::set<std::string> with, jobs;
  bool derived = false;
  for (const Series* series : all) {
    if (series->case_name != gate.case_name) continue;
    if (series->metric.empty() || series->outcome != Status::ok) continue;
    jobs.insert(series->job);
    if (!same_metric(gate, *series)) continue;
    with.insert(series->job);
    derived |= series->derived;
  }
  // The fewest ranks are what others are compared with.
  if (!derived || gate.metric.ends_with("scaling_efficiency")) return;
  for (const std::string& job : jobs)
    if (!with.contains(job))
      results.push_back({gate, Verdict::inconclusive, fmt::format("unknown for job {}", job),
                         std::nullopt, false});
}

/// A gate that matches no series, with the available metrics or parameters.
GateResult unmatched(const Gate& gate, const std::vector<const Series*>& all) {
  std::vector<std::string> metrics;
  std::set<std::string> params;
  for (const Series* series : all) {
    if (series->case_name != gate.case_name || series->metric.empty()) continue;
    metrics.push_back(series->metric.substr(series->metric.find('.') + 1));
    metrics.push_back(series->metric);
    if (same_metric(gate, *series)) params.insert(dump(series->params));
  }
  GateResult result{gate, Verdict::inconclusive, "", std::nullopt, false};
  if (metrics.empty())
    result.reason = fmt::format("no results in case '{}'", gate.case_name);
  else if (params.empty())
    result.reason = fmt::format("the case has no metric '{}'.{}", gate.metric,
                                did_you_mean(gate.metric, metrics));
  else
    result.reason =
        fmt::format("no series matches {}; the first has {}", dump(gate.where), *params.begin());
  return result;
}

}  // namespace

std::string_view to_string(Verdict verdict) { return kVerdicts.name(verdict); }

Verdict worse(Verdict a, Verdict b) {
  for (const Verdict one : {Verdict::fail, Verdict::inconclusive})
    if (a == one || b == one) return one;
  return Verdict::pass;
}

std::vector<GateResult> evaluate_gates(const Json& gates,
                                       const std::vector<const Series*>& series) {
  std::vector<GateResult> results;
  if (!gates.is_object()) return results;
  for (const auto& [case_name, list] : gates.items()) {
    for (const Json& json : list) {
      const Gate gate = read_gate(case_name, json);
      const std::size_t before = results.size();
      for (std::size_t i = 0; i < series.size(); ++i)
        if (matches(gate, *series[i])) results.push_back(judge(gate, *series[i], i));
      if (results.size() == before)
        results.push_back(unmatched(gate, series));
      else
        add_jobs_without(gate, series, results);
    }
  }
  return results;
}

std::string demand(const Gate& gate, Unit unit) {
  std::vector<std::string> parts;
  if (gate.min) parts.push_back(">= " + format(*gate.min, unit));
  if (gate.max) parts.push_back("<= " + format(*gate.max, unit));
  if (gate.min_of_limit)
    parts.push_back(">= " + format(*gate.min_of_limit, Unit::ratio) + " of the limit");
  const std::string bounds = join(parts, " and ");
  return gate.band.empty() ? bounds : fmt::format("{} (band {})", bounds, printable(gate.band));
}

}  // namespace bench
