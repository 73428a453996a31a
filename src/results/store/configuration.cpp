#include "results/store/configuration.h"

#include <cmath>
#include <set>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "core/units.h"

namespace bench {
namespace {

constexpr const char* kHostFacts[] = {"architecture",
                                      "cpu_model",
                                      "packages",
                                      "cores",
                                      "hardware_threads",
                                      "allowed_cpus",
                                      "numa_nodes",
                                      "microcode",
                                      "kernel",
                                      "os",
                                      "governor",
                                      "turbo",
                                      "smt",
                                      "thp",
                                      "clocksource",
                                      "virtualization",
                                      "product",
                                      "product_serial",
                                      "cpu_quota_cores",
                                      "memory_limit_bytes",
                                      "page_size_bytes"};
constexpr const char* kGpuFacts[] = {"name",
                                     "uuid",
                                     "serial",
                                     "vbios",
                                     "inforom",
                                     "power_limit_enforced_w",
                                     "mig_mode",
                                     "compute_mode",
                                     "sm_clock_max_hz",
                                     "memory_clock_max_hz"};
constexpr std::size_t kShownTexts = 4;

/// Only texts and numbers, without texts that explain a missing value.
void put(Json& facts, const std::string& name, const Json& value) {
  if (!value.is_primitive() || value.is_null()) return;
  const std::string text = text_of(value);
  if (!text.empty() && !text.starts_with("unreadable")) facts[name] = text;
}

void put_all(Json& facts, const std::string& prefix, const Json& values) {
  if (!values.is_object()) return;
  for (const auto& [name, value] : values.items()) put(facts, prefix + name, value);
}

/// Firmware of network cards, by the name of the card.
void put_firmware(Json& facts, const Json& cards) {
  if (!cards.is_array()) return;
  for (const Json& card : cards) {
    const std::string name = text_field(card, "name");
    if (name.empty()) continue;
    put(facts, "firmware." + name, field(card, "firmware"));
    put(facts, "driver." + name, field(card, "driver_version"));
  }
}

void put_gpus(Json& facts, const Json& gpu_facts, const PlannedJob& job) {
  put(facts, "gpu_driver", field(gpu_facts, "driver"));
  const Json& gpus = array_field(gpu_facts, "gpus");
  if (!gpus.empty()) facts["gpus"] = std::to_string(gpus.size());
  const std::string device = text_field(job.part, "device");
  for (const Json& gpu : gpus) {
    const std::string index = std::to_string(integer_field(gpu, "index", -1));
    if (!device.empty() && device != "cuda:" + index) continue;
    for (const char* name : kGpuFacts) put(facts, "gpu." + index + "." + name, field(gpu, name));
  }
}

Json facts_of(const Machine& machine, const PlannedJob& job) {
  Json facts = Json::object();
  for (const char* name : kHostFacts) put(facts, name, field(machine.facts, name));
  // To the byte it differs from one start of the kernel to the next.
  const double memory = number_field(machine.facts, "memory_bytes");
  if (std::isfinite(memory)) facts["memory"] = format(memory, Unit::byte);
  put(facts, "bios", field(field(machine.facts, "machine"), "bios_version"));
  put_all(facts, "setting_of_host.", field(machine.facts, "settings"));
  put_all(facts, "kernel_option.", field(machine.facts, "kernel_options"));
  put_firmware(facts, field(machine.facts, "infiniband"));
  put_firmware(facts, field(machine.facts, "network"));
  if (job.device != "host") put_gpus(facts, field(machine.facts, "gpus"), job);
  return facts;
}

/// "550.54 | 550.90": the distinct texts, the first few of them.
std::string several(const std::set<std::string>& texts) {
  std::vector<std::string> shown;
  for (const std::string& text : texts)
    if (shown.size() < kShownTexts) shown.push_back(text);
  if (texts.size() > kShownTexts)
    shown.push_back(std::to_string(texts.size() - kShownTexts) + " more");
  return join(shown, " | ");
}

void put_programs(Json& facts, const Json& programs, bool on_gpu) {
  for (const Json& program : programs) {
    const std::string name = text_field(program, "name");
    const bool of_gpu = name.find("cuda") != std::string::npos;
    if (name == "benchctl" || of_gpu != on_gpu) continue;
    put(facts, "program", field(program, "version"));
    put(facts, "compiler", field(program, "compiler"));
    put_all(facts, "library.", object_field(program, "libraries"));
  }
}

std::string configuration_key(const PlannedJob& job) {
  std::string key = job.device + "\n" + dump(job.part) + "\n" + job.binding + "\n";
  for (const auto& [name, value] : job.params.items())
    if (value.is_primitive()) key += name + "=" + dump(value) + "\n";
  return key + join(job.hosts, ",");
}

}  // namespace

std::vector<FactChange> changes(const Json& before, const Json& after) {
  std::vector<FactChange> found;
  if (!before.is_object() || !after.is_object()) return found;
  for (const auto& [fact, was] : before.items()) {
    const auto is = after.find(fact);
    if (is != after.end() && *is != was) found.push_back({fact, text_of(was), text_of(*is)});
  }
  return found;
}

Json to_json(const FactChange& change) {
  return {{"fact", change.fact}, {"before", change.before}, {"after", change.after}};
}

Configurations::Configurations(const RunSummary& report) : report_(report) {
  for (const Machine& machine : report.machines) machines_[machine.host] = &machine;
}

std::size_t Configurations::of(const PlannedJob& job, const std::string& chosen) {
  const auto [slot, is_new] =
      known_.try_emplace(configuration_key(job) + "\n" + chosen, all_.size());
  if (is_new) all_.push_back(make(job, chosen));
  return slot->second;
}

Json Configurations::make(const PlannedJob& job, const std::string& chosen) const {
  std::map<std::string, std::set<std::string>> texts;
  for (const std::string& host : job.hosts) {
    const auto machine = machines_.find(host);
    if (machine == machines_.end()) continue;
    const Json facts = facts_of(*machine->second, job);
    for (const auto& [name, text] : facts.items()) texts[name].insert(text.get<std::string>());
  }
  Json facts = Json::object();
  for (const auto& [name, of_hosts] : texts) facts[name] = several(of_hosts);
  put_programs(facts, report_.programs, job.device != "host");
  put_all(facts, "setting.", job.params);
  put(facts, "binding", job.binding);
  put(facts, "implementation", chosen);
  return facts;
}

}  // namespace bench
