// CPU time withheld from ranks: the clean filter hides it, yet the host is responsible for it.
#include <fmt/format.h>

#include "results/verdicts/acceptance/gate_context.h"

namespace bench {
namespace {

/// How often the ranks of a host lacked CPU time, and the worst case.
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
    Reason reason = reason_of(*host.metric, often ? Verdict::fail : Verdict::inconclusive, "hard");
    reason.metric = "cpu_time";
    reason.unit = Unit::ratio;
    reason.value = *host.worst->cpu_share;
    reason.expected = 1.0;
    const std::string stopped =
        host.worst->throttled_s && *host.worst->throttled_s > 0.0
            ? fmt::format("the CPU quota of its cgroup throttled it for {:.2g} s",
                          *host.worst->throttled_s)
            : "no local process used it: a CPU quota, or another guest of the hypervisor";
    reason.text = fmt::format(
        "CPU withheld in {} of {} measurements; in {} ranks got {:.0f} % of their CPU time: {}",
        host.starved, host.runs, host.metric->title(), 100.0 * *host.worst->cpu_share, stopped);
    reason.next_step = "raise the CPU quota of the ranks' cgroup (cpu.max) and rerun";
    reason.job = host.worst->job;
    context.add_reason(name, std::move(reason));
  }
}

}  // namespace bench
