#include "mlperf/package/describe_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "mlperf/submission/system_description.h"

namespace bench::mlperf {
namespace {

// Fields of a system description from the facts of one host; "" if unknown.

/// The field as a string; "" for null, "none" and unreadable values.
std::string known_text(const Json& facts, const char* key) {
  const Json& value = field(facts, key);
  if (value.is_null() || value.is_structured()) return "";
  const std::string text = text_of(value);
  return text == "none" || text.starts_with("unreadable") ? "" : text;
}

/// The field as an integer; 0 if there is none.
std::int64_t known_count(const Json& facts, const char* key) {
  return std::max<std::int64_t>(0, integer_field(facts, key, 0));
}

/// "8x A, 2x B": counts equal items, sorted by name.
std::string counted_words(const std::map<std::string, int>& things) {
  std::vector<std::string> parts;
  for (const auto& [thing, count] : things) parts.push_back(fmt::format("{}x {}", count, thing));
  return join(parts, ", ");
}

/// Disk and network sizes are in powers of ten.
std::string decimal_bytes(double bytes) {
  return bytes >= 1e12 ? fmt::format("{:.3g} TB", bytes / 1e12)
                       : fmt::format("{:.3g} GB", bytes / 1e9);
}

std::string upper(std::string text) {
  if (!text.empty())
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

void add_infiniband(const Json& facts, std::map<std::string, int>& cards) {
  for (const Json& card : array_field(facts, "infiniband"))
    for (const Json& port : array_field(card, "ports"))
      if (const std::string rate = known_text(port, "rate"); !rate.empty())
        ++cards[rate + " " + known_text(port, "link_layer")];
}

/// The network interface of an InfiniBand card is not a second card.
void add_ethernet(const Json& facts, std::map<std::string, int>& cards) {
  for (const Json& card : array_field(facts, "network")) {
    const double speed = number_field(card, "speed_bits_per_s");
    if (speed > 0.0 && !known_text(card, "name").starts_with("ib"))
      ++cards[fmt::format("{:g} Gb/s Ethernet", speed / 1e9)];
  }
}

/// "L1d: 64x 32 KiB, L2: 64x 1 MiB"
std::string cache_words(const Json& facts) {
  std::vector<std::string> parts;
  for (const Json& cache : array_field(facts, "caches")) {
    const double size = number_field(cache, "size_bytes");
    const std::string name = known_text(cache, "name");
    if (name.empty() || !(size > 0.0)) continue;
    parts.push_back(fmt::format("{}: {}x {}", upper(name), known_count(cache, "count"),
                                format(size, Unit::byte)));
  }
  return join(parts, ", ");
}

/// "1.97 TiB"
std::string memory_words(const Json& facts) {
  double modules = 0.0;
  for (const Json& module : array_field(facts, "memory_modules"))
    modules += number_field(module, "size_bytes", 0.0);
  // The kernel reserves a part, so the total is not a round number.
  const double bytes = modules > 0.0 ? modules : number_field(facts, "memory_bytes");
  return bytes > 0.0 ? format(bytes, Unit::byte) : "";
}

/// "32x 64 GiB DDR5 5600 MT/s"
std::string memory_module_words(const Json& facts) {
  std::map<std::string, int> modules;
  for (const Json& module : array_field(facts, "memory_modules")) {
    const double size = number_field(module, "size_bytes");
    const double rate = number_field(module, "transfers_per_s", 0.0);
    if (!(size > 0.0)) continue;
    std::string words = format(size, Unit::byte);
    if (const std::string type = known_text(module, "type"); !type.empty()) words += " " + type;
    if (rate > 0.0) words += fmt::format(" {:.0f} MT/s", rate / 1e6);
    ++modules[words];
  }
  return counted_words(modules);
}

/// "8x 3.84 TB"
std::string disk_words(const Json& facts) {
  std::map<std::string, int> disks;
  for (const Json& disk : array_field(facts, "nvme"))
    if (const double size = number_field(disk, "size_bytes"); size > 0.0)
      ++disks[decimal_bytes(size)];
  return counted_words(disks);
}

/// "8x 400 Gb/sec (4X NDR) InfiniBand, ..."
std::string network_words(const Json& facts) {
  std::map<std::string, int> cards;
  add_infiniband(facts, cards);
  add_ethernet(facts, cards);
  return counted_words(cards);
}

std::string nvlink_words(const Json& gpu) {
  const std::size_t links = array_field(gpu, "nvlink").size();
  return links > 0 ? fmt::format("{}x NVLink", links) : "";
}

std::string pcie_words(const Json& gpu) {
  const std::int64_t generation = known_count(gpu, "pcie_generation_max");
  const std::int64_t width = known_count(gpu, "pcie_width_max");
  return generation > 0 && width > 0 ? fmt::format("PCIe Gen{} x{}", generation, width) : "";
}

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
