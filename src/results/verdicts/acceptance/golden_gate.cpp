#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/text.h"
#include "results/store/history.h"
#include "results/verdicts/acceptance/gate_context.h"
#include "results/verdicts/peers/compared.h"
#include "results/verdicts/peers/criteria.h"
#include "results/verdicts/peers/host_kinds.h"

namespace bench {
namespace {

/// Whether the settings match: parameters that vary inside a job must be in the criterion, and
/// every other parameter there must be a setting of the job.
bool has_params_of(const Json& params, const MetricRuns& metric) {
  for (const auto& [name, value] : metric.params.items())
    if (!params.contains(name) || params[name] != value) return false;
  for (const auto& [name, value] : params.items())
    if (name != "ranks" && (!metric.settings.contains(name) || metric.settings[name] != value))
      return false;
  return params.value("ranks", Json(1)) == Json(metric.ranks);
}

const Criterion* criterion_of(const FleetProfile& profile, const MetricRuns& metric,
                              const std::string& kind) {
  const std::string device = kind_of_device(metric.device);
  for (const ProfileEntry& entry : profile.entries)
    if (entry.key.metric == metric.metric && entry.key.device == device &&
        entry.unit == metric.unit && entry.better == metric.better &&
        (entry.key.kind.empty() || entry.key.kind == kind) &&
        has_params_of(entry.key.params, metric))
      return &entry.criterion;
  return nullptr;
}

/// One metric of one host, and what healthy hosts measured.
struct GoldenCase {
  const MetricRuns* metric = nullptr;
  std::string host;
  const Criterion* criterion = nullptr;
  double value = kNoValue, half = kNoValue;
  std::size_t runs = 0;
};

Reason reason_of_golden(const GoldenCase& one, Verdict verdict) {
  Reason reason = reason_of(*one.metric, verdict, "golden");
  reason.value = one.value;
  reason.expected = one.criterion->centre;
  reason.job = one.metric->by_hosts.at({one.host}).front().job;
  return reason;
}

/// With enough runs, the whole interval must lie within what is allowed.
void judge_golden_interval(const GateContext& context, const GoldenCase& one, double lost,
                           double allowed) {
  const double excluded = std::max(allowed, one.metric->resolution);
  if (one.runs < context.settings.fewest_runs || lost + one.half <= excluded) return;
  Reason reason = reason_of_golden(one, Verdict::inconclusive);
  reason.text = fmt::format(
      "{}: {}, {} than healthy hosts of its kind ({}); uncertainty +-{}, tolerance {}",
      one.metric->title(), format(one.value, one.metric->unit), loss_text(lost),
      format(one.criterion->centre, one.metric->unit), share_text(one.half), share_text(excluded));
  reason.next_step = "repeat for more clean runs";
  reason.more_runs = true;
  context.add_reason(one.host, std::move(reason));
}

void judge_golden_case(const GateContext& context, const GoldenCase& one, std::size_t tests) {
  const MetricRuns& metric = *one.metric;
  const double lost = loss(one.value, one.criterion->centre, metric.better);
  const double allowed = golden_allowed(*one.criterion, metric.threshold);
  const GoldenTest test{metric.threshold, context.golden_level, tests};
  if (!is_below_golden(*one.criterion, test, lost, one.half))
    return judge_golden_interval(context, one, lost, allowed);
  Reason reason = reason_of_golden(one, Verdict::fail);
  reason.text = fmt::format("{}: {}, {} than healthy hosts of its kind ({}); allowed: {}",
                            metric.title(), format(one.value, metric.unit), loss_text(lost),
                            format(one.criterion->centre, metric.unit), share_text(allowed));
  context.add_reason(one.host, std::move(reason));
}

struct GoldenCases {
  std::vector<GoldenCase> cases;
  std::set<std::string> known;      // hosts with at least one criterion
  std::set<std::string> uncovered;  // bound_key() of metrics without a criterion
};

GoldenCases golden_cases(const GateContext& context) {
  const HostKinds kinds(context.reports);
  GoldenCases found;
  for (const MetricRuns& metric : context.metrics) {
    const Compared field = compared(metric, context.settings.hosts);
    for (std::size_t i = 0; i < field.hosts.size(); ++i) {
      const std::string& host = field.hosts[i];
      const Criterion* criterion =
          criterion_of(*context.settings.golden, metric, kinds.of(host, metric.device));
      if (criterion == nullptr) {
        found.uncovered.insert(bound_key(host, metric.case_name, metric.metric));
        continue;
      }
      found.known.insert(host);
      found.cases.push_back(
          {&metric, host, criterion, field.centres[i], field.noise.half[i], field.runs[i].size()});
    }
  }
  return found;
}

}  // namespace

void judge_golden(GateContext& context) {
  if (!context.settings.golden) return;
  const GoldenCases found = golden_cases(context);
  // Metrics judged here, whatever the verdict, need no peers.
  for (const GoldenCase& one : found.cases) {
    const std::string key = bound_key(one.host, one.metric->case_name, one.metric->metric);
    if (!found.uncovered.contains(key)) context.bounded.insert(key);
    judge_golden_case(context, one, found.cases.size());
  }
  for (const std::string& host : context.settings.hosts)
    if (!found.known.contains(host))
      if (HostAcceptance* one = context.host(host))
        one->notes.push_back("the golden profile has no criteria for this kind of host");
}

}  // namespace bench
