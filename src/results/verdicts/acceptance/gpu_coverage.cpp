// Checks that each GPU of a host was measured individually.
#include <map>
#include <set>

#include "core/hostlist.h"
#include "results/verdicts/acceptance/gate_context.h"

namespace bench {
namespace {

/// host -> GPUs that some job drove alone: "gpu3".
std::map<std::string, std::set<std::string>> measured_gpus(const GateContext& context) {
  std::map<std::string, std::set<std::string>> measured;
  for (std::size_t run = 0; run < context.reports.size(); ++run)
    for (const JobResult& job : context.reports[run].jobs) {
      const auto gpu = context.gpus[run].find(job.job.id);
      if (job.job.hosts.size() == 1 && gpu != context.gpus[run].end())
        measured[job.job.hosts.front()].insert(gpu->second);
    }
  return measured;
}

}  // namespace

void judge_gpu_coverage(const GateContext& context, const FactsOfHosts& facts) {
  for (const auto& [host, measured] : measured_gpus(context)) {
    const auto topics = facts.find(host);
    if (topics == facts.end() || !topics->second.contains("gpus")) continue;
    std::vector<std::string> others;
    for (const Json& gpu : array_field(*topics->second.at("gpus"), "gpus"))
      if (const auto name = "gpu" + std::to_string(integer_field(gpu, "index", -1));
          !measured.contains(name))
        others.push_back(name);
    if (others.empty()) continue;
    context.add_reason(host, Verdict::inconclusive, "coverage", "gpus",
                       compact_hostlist(others) + ": not measured individually",
                       "run the suite accept-gpus, or cases with \"scope\": \"device\"");
  }
}

}  // namespace bench
