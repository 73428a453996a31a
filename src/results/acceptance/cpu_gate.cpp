// Time that the CPU was withheld from ranks: the clean filter hides it, and it is the host's
// matter.
#include <fmt/format.h>

#include "results/acceptance/hearing.h"

namespace bench {
namespace {

/// How often a host's ranks did not get the time of their cores, and the worst of it.
struct Starved {
  int runs = 0, starved = 0;
  const MetricRuns* metric = nullptr;
  const Observation* worst = nullptr;
};

}  // namespace

void judge_cpu_time(GateContext& context) {
  std::map<std::string, Starved> by_host;
  for (const MetricRuns& metric : context.metrics)
    for (const auto& [hosts, runs] : metric.by_hosts) {
      if (hosts.size() != 1) continue;
      Starved& host = by_host[hosts.front()];
      for (const Observation& seen : runs) {
        ++host.runs;
        if (!seen.starved) continue;
        ++host.starved;
        if (host.worst == nullptr || *seen.cpu_share < *host.worst->cpu_share)
          host.worst = &seen, host.metric = &metric;
      }
    }
  for (const auto& [name, host] : by_host) {
    if (host.worst == nullptr) continue;
    const bool often = 2 * host.starved > host.runs;
    Reason reason{often ? Verdict::fail : Verdict::inconclusive,
                  "hard",
                  host.metric->case_name,
                  "cpu_time",
                  host.metric->params,
                  Unit::ratio,
                  *host.worst->cpu_share,
                  1.0};
    const std::string stopped =
        host.worst->throttled_s && *host.worst->throttled_s > 0.0
            ? fmt::format("its cgroup's CPU quota stopped it for {:.2g} s",
                          *host.worst->throttled_s)
            : "nobody else is seen to have used it: a CPU quota, or a neighbour beyond this host";
    reason.text = fmt::format(
        "its processes did not get the CPU in {} of {} measurements; in {} they had {:.0f} % of "
        "it, "
        "and {}",
        host.starved, host.runs, host.metric->title(), 100.0 * *host.worst->cpu_share, stopped);
    reason.settle = "lift the CPU quota of the group that ranks run in (cpu.max), then run again";
    reason.job = host.worst->job;
    context.add_reason(name, std::move(reason));
  }
}

}  // namespace bench
