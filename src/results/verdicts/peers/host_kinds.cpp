#include "results/verdicts/peers/host_kinds.h"

#include <set>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "results/store/configuration.h"
#include "results/store/history.h"

namespace bench {

std::string kind_of_host(const Json& configuration) {
  std::vector<std::string> parts;
  for (const char* fact : {"product", "cpu_model", "hardware_threads", "memory", "gpus"})
    if (const Json& value = field(configuration, fact); value.is_string())
      parts.push_back(std::string(fact) == "hardware_threads" ? text_of(value) + " threads"
                      : std::string(fact) == "gpus"           ? text_of(value) + " GPUs"
                                                              : text_of(value));
  std::set<std::string> gpus;
  if (configuration.is_object())
    for (const auto& [fact, value] : configuration.items())
      if (fact.starts_with("gpu.") && fact.ends_with(".name")) gpus.insert(text_of(value));
  parts.insert(parts.end(), gpus.begin(), gpus.end());
  return join(parts, " | ");
}

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
