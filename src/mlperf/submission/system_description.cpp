#include "mlperf/submission/system_description.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"

namespace bench::mlperf {
namespace {

// Checks a system description.

constexpr const char* kSystemChecker = "mlperf_logging, system_desc_checker";

/// Placeholders in templates; longer texts may contain such words legitimately.
bool is_placeholder(const std::string& text) {
  constexpr std::size_t kLongest = 40;
  constexpr std::array<std::string_view, 6> kWords = {"TODO", "TBD",         "FIXME",
                                                      "XXX",  "PLACEHOLDER", "FILL IN"};
  if (text.size() > kLongest) return false;
  const std::string upper = to_upper(text);
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
  findings.push_back(
      {.rule = "system.status",
       .official = true,
       .key = "status",
       .expected = join(known, " | "),
       .found = system.status,
       .text = "unknown status for rounds since 4.0." + did_you_mean(system.status, known),
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
  findings.push_back(
      {.rule = "system.count",
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

namespace {

constexpr std::size_t kMaxSystemBytes = 1 << 20;
constexpr std::int64_t kMaxCount = 1'000'000'000;

/// Accepts 8, 8.0 and " 8 "; empty for "8x", "" and negative numbers.
std::optional<std::int64_t> count_of(const Json& value) {
  if (value.is_number()) {
    const double number = value.get<double>();
    const bool whole =
        number >= 0.0 && number <= static_cast<double>(kMaxCount) && number == std::floor(number);
    return whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
  }
  if (!value.is_string()) return {};
  const auto count = parse_number(value.get_ref<const std::string&>());
  return count && *count >= 0 && *count <= kMaxCount ? count : std::nullopt;
}

/// Some descriptions have a list or an object instead of a string.
std::string words_of(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_structured()) return text_of(value);
  std::vector<std::string> parts;
  for (const Json& one : value) parts.push_back(text_of(one));
  return join(parts, ", ");
}

}  // namespace

std::optional<std::int64_t> SystemDescription::accelerators() const {
  if (!nodes || !accelerators_per_node) return {};
  const std::int64_t all = *nodes * *accelerators_per_node;
  return all > 0 && all <= kMaxCount ? std::optional(all) : std::nullopt;
}

SystemDescription system_description(Json fields) {
  SystemDescription system;
  const auto words = [&](const char* key) { return words_of(field(fields, key)); };
  system.submitter = words("submitter");
  system.division = words("division");
  system.status = words("status");
  system.system_name = words("system_name");
  system.framework = words("framework");
  system.operating_system = words("operating_system");
  system.processor = words("host_processor_model_name");
  system.accelerator = words("accelerator_model_name");
  system.nodes = count_of(field(fields, "number_of_nodes"));
  system.processors_per_node = count_of(field(fields, "host_processors_per_node"));
  system.accelerators_per_node = count_of(field(fields, "accelerators_per_node"));
  system.fields = std::move(fields);
  return system;
}

SystemDescription system_description(std::string_view text, const std::string& origin) {
  if (text.size() > kMaxSystemBytes)
    throw Error(ErrorKind::input, printable(origin) + ": " + std::to_string(text.size()) +
                                      " bytes, too large for a system description");
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth < kMaxJsonDepth) return true;
    throw Error(ErrorKind::input, printable(origin) + ": nested deeper than " +
                                      std::to_string(kMaxJsonDepth) + " levels");
  };
  Json fields;
  try {
    fields = Json::parse(text.begin(), text.end(), shallow);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::input,
                printable(origin) + ": not valid JSON: " + printable(error.what()));
  }
  if (!fields.is_object())
    throw Error(ErrorKind::input, printable(origin) + ": not a JSON object: " + excerpt(fields));
  return system_description(std::move(fields));
}

SystemDescription read_system_description(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxSystemBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.gcount() == 0 && !file.eof()))
    throw Error(ErrorKind::environment, "cannot read " + printable(path.string()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return system_description(text, path.string());
}

}  // namespace bench::mlperf
