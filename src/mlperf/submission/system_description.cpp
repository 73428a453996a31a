#include "mlperf/submission/system_description.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "core/whole_file.h"

namespace bench::mlperf {
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
  open_input(path);  // refuses named pipes and devices
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxSystemBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.gcount() == 0 && !file.eof()))
    throw Error(ErrorKind::environment, "cannot read " + printable(path.string()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return system_description(text, path.string());
}

}  // namespace bench::mlperf
