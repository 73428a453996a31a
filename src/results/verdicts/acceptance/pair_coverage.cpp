#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "results/verdicts/acceptance/gate_context.h"

namespace bench {

void judge_pair_coverage(const GateContext& context, const MetricRuns& metric,
                         const Hosts& failing) {
  for (const auto& [hosts, runs] : metric.by_hosts) {
    const std::size_t usable = metric.values(hosts).size();
    if (hosts.size() < 2 || usable >= context.settings.fewest_runs) continue;
    if (std::ranges::any_of(hosts, [&](const std::string& host) {
          return std::ranges::find(failing, host) != failing.end();
        }))
      continue;
    std::string why = "no further runs were requested";
    for (const Observation& seen : runs)
      if (!seen.usable) why = seen.why;
    for (const std::string& host : hosts) {
      Reason reason{Verdict::inconclusive, "coverage",    metric.case_name,
                    metric.metric,         metric.params, metric.unit};
      reason.text = fmt::format("{} of {}: {} of {} usable runs; {}", metric.title(),
                                join(hosts, " and "), usable, context.settings.fewest_runs, why);
      reason.next_step = "rerun on idle hosts";
      reason.more_runs = true;
      reason.job = runs.front().job;
      context.add_reason(host, std::move(reason));
    }
  }
}

}  // namespace bench
