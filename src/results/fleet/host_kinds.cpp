#include "results/fleet/host_kinds.h"

#include "results/fleet/fleet_histories.h"
#include "results/history/configuration.h"

namespace bench {

HostKinds::HostKinds(const std::vector<RunSummary>& reports) {
  for (const RunSummary& report : reports) {
    Configurations configurations(report);
    for (const JobResult& result : report.jobs) {
      const PlannedJob& job = result.job;
      if (job.hosts.size() != 1) continue;
      const auto [kind, is_new] =
          kinds_.try_emplace({job.hosts.front(), text_field(job.part, "device", job.device)});
      if (is_new) kind->second = kind_of_host(configurations.all().at(configurations.of(job)));
    }
  }
}

std::string HostKinds::of(const std::string& host, const std::string& device) const {
  auto found = kinds_.find({host, device});
  if (found == kinds_.end()) found = kinds_.find({host, kind_of_device(device)});
  return found == kinds_.end() ? "" : found->second;
}

}  // namespace bench
