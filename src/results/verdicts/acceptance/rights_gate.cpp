// Facts that could not be read for lack of permissions. Those the suite lists in `requires` block a
// pass; the others become notes. Facts about hardware a host does not have are not required.
#include <array>

#include "core/text.h"
#include "results/verdicts/acceptance/gate_context.h"

namespace bench {
namespace {

struct Requirement {
  const char* name;
  bool gpus;  // required only of hosts with GPUs
  const char* misses;
  const char* next_step;
};

constexpr const char* kGpuFacts = "gpu_facts";

constexpr std::array<Requirement, 4> kRequirements{
    {{"kernel_log", true, "Xids not reported by NVML would be missed",
      "run as root or with CAP_SYSLOG, outside containers that hide /dev/kmsg"},
     {"memory_errors", false, "host memory errors would be missed",
      "run as a user with read access to /sys/devices/system/edac"},
     {"pci_configuration", true,
      "PCIe bridges that redirect GPU peer traffic (ACS) are not detected",
      "run as root or with CAP_SYS_ADMIN"},
     {"firmware_tables", false, "memory modules and serial numbers are unknown",
      "run as root or with CAP_DAC_READ_SEARCH"}}};

bool lacks_permission(const std::string& why) {
  return why.find("ermission") != std::string::npos || why.find("rights") != std::string::npos;
}

/// Every {"unreadable": why} below `facts` whose reason is a missing permission, by path.
void find_unreadable(const Json& facts, const std::string& path, std::vector<std::string>& found) {
  if (facts.is_object() && facts.size() == 1 && field(facts, "unreadable").is_string()) {
    const auto why = text_field(facts, "unreadable");
    if (lacks_permission(why)) found.push_back(path + " (" + why + ")");
    return;
  }
  if (facts.is_object())
    for (const auto& [key, value] : facts.items()) find_unreadable(value, path + "." + key, found);
  if (facts.is_array())
    for (std::size_t i = 0; i < facts.size(); ++i)
      find_unreadable(facts[i], path + "[" + std::to_string(i) + "]", found);
}

const Json& topic(const FactsByTopic& topics, const char* name) {
  static const Json none;
  const auto found = topics.find(name);
  return found == topics.end() ? none : *found->second;
}

std::set<std::string> required_facts(const std::vector<RunRecords>& runs) {
  std::set<std::string> names;
  if (!runs.front().plan.contains("requires")) return {kGpuFacts};
  for (const Json& name : array_field(runs.front().plan, "requires"))
    if (name.is_string()) names.insert(name.get<std::string>());
  return names;
}

struct UnreadableFact {
  std::string name, text, next_step;
};

void add_missing_fact(const GateContext& context, const std::string& host,
                      const UnreadableFact& fact, bool required) {
  if (required)
    context.add_reason(host, Verdict::inconclusive, "preflight", fact.name, fact.text,
                       fact.next_step);
  else if (HostAcceptance* found = context.host(host))
    found->notes.push_back(fact.text);
}

std::vector<UnreadableFact> unreadable_facts(const FactsByTopic& topics) {
  std::vector<UnreadableFact> list;
  std::vector<std::string> of_gpus;
  for (const char* name : {"gpus", "preflight"})
    find_unreadable(topic(topics, name), name, of_gpus);
  if (!of_gpus.empty())
    list.push_back({kGpuFacts, "not readable without more permissions: " + join(of_gpus, ", "),
                    "run as a user with read access (root, or the group of the device files)"});
  const bool has_gpus = !array_field(topic(topics, "gpus"), "gpus").empty();
  const Json& access = field(topic(topics, "host"), "access");
  for (const Requirement& one : kRequirements) {
    const std::string why = text_field(field(access, one.name), "unreadable");
    if (why.empty() || (one.gpus && !has_gpus)) continue;
    list.push_back(
        {one.name, std::string(one.name) + ": " + why + "; " + one.misses, one.next_step});
  }
  return list;
}

}  // namespace

void judge_permissions(const GateContext& context, const FactsOfHosts& facts) {
  const std::set<std::string> required = required_facts(context.records);
  for (const auto& [host, topics] : facts)
    for (const UnreadableFact& fact : unreadable_facts(topics))
      add_missing_fact(context, host, fact, required.contains(fact.name));
}

}  // namespace bench
