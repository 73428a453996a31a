#include "results/mlperf/published/system_description.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <utility>

#include "core/error.h"
#include "core/json_text.h"
#include "core/text.h"
#include "results/json_fields.h"

namespace bench::mlperf {
namespace {

constexpr std::size_t kMaxSystemBytes = 1 << 20;
constexpr std::int64_t kMaxCount = 1'000'000'000;

/// Accepts 8, 8.0 and " 8 "; empty for "8x", "" and negative numbers.
std::optional<std::int64_t> count_of(const Json& value) {
  if (value.is_number()) {
    const double number = value.get<double>();
    const bool whole = number >= 0.0 && number <= static_cast<double>(kMaxCount) &&
                       number == std::floor(number);
    return whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
  }
  if (!value.is_string()) return {};
  const std::string text = value.get<std::string>();
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  const std::size_t last = text.find_last_not_of(" \t") + 1;
  std::int64_t count = -1;
  const auto [end, failed] = std::from_chars(text.data() + first, text.data() + last, count);
  if (failed != std::errc() || end != text.data() + last || count < 0 || count > kMaxCount)
    return {};
  return count;
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
