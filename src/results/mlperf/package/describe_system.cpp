#include "results/mlperf/package/describe_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "core/text.h"
#include "results/json_fields.h"
#include "results/mlperf/package/host_fields.h"
#include "results/mlperf/published/system_description.h"

namespace bench::mlperf {
namespace {

using Fields = std::map<std::string, std::string>;

std::string per(std::int64_t whole, std::int64_t parts) {
  return whole > 0 && parts > 0 ? std::to_string(whole / parts) : "";
}

void add_processor(const Json& facts, Fields& fields) {
  const std::int64_t packages = known_count(facts, "packages");
  fields["host_processors_per_node"] = packages > 0 ? std::to_string(packages) : "";
  fields["host_processor_model_name"] = known_text(facts, "cpu_model");
  fields["host_processor_core_count"] = per(known_count(facts, "cores"), packages);
  fields["host_processor_vcpu_count"] = per(known_count(facts, "hardware_threads"), packages);
  fields["host_processor_caches"] = cache_words(facts);
}

void add_rest_of_host(const Json& facts, Fields& fields) {
  fields["host_memory_capacity"] = memory_words(facts);
  fields["host_memory_configuration"] = memory_module_words(facts);
  fields["host_storage_capacity"] = disk_words(facts);
  fields["host_storage_type"] = fields["host_storage_capacity"].empty() ? "" : "NVMe SSD";
  fields["host_networking"] = network_words(facts);
  fields["operating_system"] = known_text(facts, "os");
}

void add_accelerators(const Json& values, Fields& fields) {
  const Json& gpus = array_field(values, "gpus");
  fields["accelerators_per_node"] = std::to_string(gpus.size());
  std::set<std::string> names;
  for (const Json& gpu : gpus) names.insert(known_text(gpu, "name"));
  fields["accelerator_model_name"] = join({names.begin(), names.end()}, " | ");
  if (gpus.empty()) return;
  const Json& gpu = gpus.front();
  fields["accelerator_host_interconnect"] = pcie_words(gpu);
  fields["accelerator_interconnect"] = nvlink_words(gpu);
  if (const double clock = number_field(gpu, "sm_clock_max_hz"); clock > 0.0)
    fields["accelerator_frequency"] = fmt::format("{:.0f} MHz", clock / 1e6);
  if (const double bytes = number_field(gpu, "memory_bytes"); bytes > 0.0)
    fields["accelerator_memory_capacity"] = fmt::format("{:.0f} MiB", bytes / (1024.0 * 1024.0));
}

Fields fields_of_host(const Machine& machine) {
  Fields fields;
  add_processor(machine.facts, fields);
  add_rest_of_host(machine.facts, fields);
  add_accelerators(field(machine.facts, "gpus"), fields);
  return fields;
}

/// Versions of programs, drivers and the kernel by name, including several with the same name.
Json software_stack(std::span<const Machine> machines, const Json& programs) {
  std::map<std::string, std::set<std::string>> versions;
  const auto add = [&](const std::string& name, const std::string& version) {
    if (!version.empty()) versions[name].insert(version);
  };
  for (const Json& program : programs) {
    add(text_field(program, "name"), known_text(program, "version"));
    add("compiler", known_text(program, "compiler"));
    const Json& libraries = object_field(program, "libraries");
    for (const auto& [name, version] : libraries.items())
      add(name, known_text(libraries, name.c_str()));
  }
  for (const Machine& machine : machines) {
    add("kernel_version", known_text(machine.facts, "kernel"));
    add("nvidia_kernel_driver", known_text(field(machine.facts, "gpus"), "driver"));
    add("cuda_driver_api", known_text(field(machine.facts, "gpus"), "cuda"));
  }
  Json stack = Json::object();
  for (const auto& [name, found] : versions)
    if (!name.empty()) stack[name] = join({found.begin(), found.end()}, " | ");
  return stack;
}

std::string own_framework(const Json& programs) {
  for (const Json& program : programs)
    if (text_field(program, "name") == "benchctl")
      return "benchctl " + text_field(program, "version");
  return "";
}

/// Fields that may stay empty without review, as in most submissions.
bool may_stay_empty(const std::string& name, bool accelerated) {
  constexpr std::array<std::string_view, 6> kNotes = {"hw_notes",
                                                      "sw_notes",
                                                      "accelerator_on-chip_memories",
                                                      "host_processor_interconnect",
                                                      "accelerator_interconnect_topology",
                                                      "host_networking_topology"};
  return std::ranges::find(kNotes, name) != kNotes.end() ||
         (!accelerated && name.starts_with("accelerator_"));
}

void apply_options(const SystemOptions& words, const Json& programs, Json& fields) {
  fields["submitter"] = words.submitter;
  fields["division"] = words.division;
  fields["status"] = words.status;
  fields["system_name"] = words.system_name;
  fields["framework"] = words.framework.empty() ? own_framework(programs) : words.framework;
  for (const auto& [name, text] : words.fields) fields[name] = text;
}

}  // namespace

DescribedSystem describe_system(std::span<const Machine> machines, const Json& programs,
                                const SystemOptions& words) {
  std::map<std::string, std::set<std::string>> values;
  for (const Machine& machine : machines)
    for (const auto& [name, text] : fields_of_host(machine)) values[name].insert(text);
  DescribedSystem system;
  for (const std::string& name : system_fields()) system.fields[name] = "";
  for (const auto& [name, texts] : values) {
    system.fields[name] = join({texts.begin(), texts.end()}, " | ");
    if (texts.size() > 1 && !words.fields.contains(name))
      system.todo.push_back({name, "the hosts differ, so all values are listed: choose one"});
  }
  system.fields["number_of_nodes"] = machines.empty() ? "" : std::to_string(machines.size());
  system.fields["other_software_stack"] = software_stack(machines, programs);
  apply_options(words, programs, system.fields);
  const bool accelerated = machines.empty() || system.fields["accelerator_model_name"] != "";
  for (const std::string& name : system_fields())
    if (system.fields[name] == "" && !words.fields.contains(name) &&
        !may_stay_empty(name, accelerated))
      system.todo.push_back({name, "not found in the facts of the run: fill it in"});
  return system;
}

}  // namespace bench::mlperf
