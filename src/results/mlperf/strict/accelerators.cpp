#include "results/mlperf/strict/accelerators.h"

#include <charconv>
#include <string>

#include "core/error.h"
#include "core/json.h"
#include "results/json_fields.h"

namespace bench::mlperf {
namespace {

constexpr std::int64_t kMost = 10'000'000;

std::optional<std::int64_t> count_of(const Json& value) {
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    return number > 0 && number <= kMost ? std::optional(number) : std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0 || number > kMost)
    return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::int64_t> accelerators_of(const std::filesystem::path& system_file) {
  try {
    const Json system = read_json(system_file);
    const auto nodes = count_of(field(system, "number_of_nodes"));
    const auto each = count_of(field(system, "accelerators_per_node"));
    return nodes && each ? std::optional(*nodes * *each) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace bench::mlperf
