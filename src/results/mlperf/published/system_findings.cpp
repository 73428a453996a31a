// Checks a system description.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/json_text.h"
#include "core/text.h"
#include "results/json_fields.h"
#include "results/mlperf/published/system_description.h"

namespace bench::mlperf {
namespace {

constexpr const char* kSystemChecker = "mlperf_logging, system_desc_checker";

/// Placeholders in templates; longer texts may contain such words legitimately.
bool is_placeholder(const std::string& text) {
  constexpr std::size_t kLongest = 40;
  constexpr std::array<std::string_view, 6> kWords = {"TODO", "TBD",         "FIXME",
                                                      "XXX",  "PLACEHOLDER", "FILL IN"};
  if (text.size() > kLongest) return false;
  std::string upper = text;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    return upper == word || (word.size() > 5 && upper.find(word) != std::string::npos) ||
           upper.starts_with(std::string(word) + ":");
  });
}

Finding missing_field(const std::string& name) {
  return {.rule = "system.field",
          .official = true,
          .key = name,
          .expected = "a field '" + name + "', possibly empty",
          .found = "none",
          .text = "the system description lacks '" + name + "': add it",
          .where = kSystemChecker};
}

void check_status(const SystemDescription& system, std::vector<Finding>& findings) {
  const auto& known = system_statuses();
  if (!system.fields.contains("status") || std::ranges::find(known, system.status) != known.end())
    return;
  findings.push_back({.rule = "system.status",
                      .official = true,
                      .key = "status",
                      .expected = join(known, " | "),
                      .found = system.status,
                      .text = "unknown status for rounds since 4.0." +
                              did_you_mean(system.status, known),
                      .where = kSystemChecker});
}

void check_division(const SystemDescription& system, std::vector<Finding>& findings) {
  if (!system.fields.contains("division") || system.division == "closed" ||
      system.division == "open")
    return;
  findings.push_back({.rule = "system.division",
                      .key = "division",
                      .expected = "closed or open",
                      .found = system.division,
                      .text = "seeds and convergence are checked only for 'closed'"});
}

void check_count(const SystemDescription& system, const char* key,
                 std::optional<std::int64_t> count, std::int64_t least,
                 std::vector<Finding>& findings) {
  if (!system.fields.contains(key) || (count && *count >= least)) return;
  findings.push_back({.rule = "system.count",
                      .key = key,
                      .expected = least > 0 ? "an integer of at least 1" : "an integer",
                      .found = text_of(field(system.fields, key)),
                      .text = std::string(key) + " is not a valid count, but result tables use it"});
}

}  // namespace

const std::vector<std::string>& system_fields() {
  static const std::vector<std::string> fields = {"submitter",
                                                  "division",
                                                  "status",
                                                  "system_name",
                                                  "number_of_nodes",
                                                  "host_processors_per_node",
                                                  "host_processor_model_name",
                                                  "host_processor_core_count",
                                                  "host_processor_vcpu_count",
                                                  "host_processor_frequency",
                                                  "host_processor_caches",
                                                  "host_processor_interconnect",
                                                  "host_memory_capacity",
                                                  "host_storage_type",
                                                  "host_storage_capacity",
                                                  "host_networking",
                                                  "host_networking_topology",
                                                  "host_memory_configuration",
                                                  "accelerators_per_node",
                                                  "accelerator_model_name",
                                                  "accelerator_host_interconnect",
                                                  "accelerator_frequency",
                                                  "accelerator_on-chip_memories",
                                                  "accelerator_memory_configuration",
                                                  "accelerator_memory_capacity",
                                                  "accelerator_interconnect",
                                                  "accelerator_interconnect_topology",
                                                  "cooling",
                                                  "hw_notes",
                                                  "framework",
                                                  "other_software_stack",
                                                  "operating_system",
                                                  "sw_notes"};
  return fields;
}

const std::vector<std::string>& system_statuses() {
  static const std::vector<std::string> statuses = {"Available on-premise", "Available cloud",
                                                    "Research, Development, or Internal (RDI)",
                                                    "Preview"};
  return statuses;
}

std::vector<Finding> check_system_description(const SystemDescription& system) {
  std::vector<Finding> findings;
  for (const std::string& name : system_fields())
    if (!system.fields.contains(name)) findings.push_back(missing_field(name));
  check_status(system, findings);
  check_division(system, findings);
  check_count(system, "number_of_nodes", system.nodes, 1, findings);
  check_count(system, "host_processors_per_node", system.processors_per_node, 1, findings);
  check_count(system, "accelerators_per_node", system.accelerators_per_node, 0, findings);
  for (const auto& [name, value] : system.fields.items())
    if (value.is_string() && is_placeholder(value.get<std::string>()))
      findings.push_back({.rule = "system.placeholder",
                          .severity = Severity::warning,
                          .key = name,
                          .expected = "a real value, or \"\"",
                          .found = value.get<std::string>(),
                          .text = "the field still has a placeholder value"});
  return findings;
}

}  // namespace bench::mlperf
