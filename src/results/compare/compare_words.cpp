#include <fmt/format.h>

#include <cmath>

#include "core/json_text.h"
#include "core/text.h"
#include "results/compare/compare_output.h"

namespace bench {
namespace {

constexpr double kAsFactor = 0.25;  // larger changes read better as factors

}  // namespace

std::string params_text(const Json& params) {
  std::vector<std::string> parts;
  if (!params.is_object()) return "";
  for (const auto& [name, value] : params.items()) {
    if (value.is_string())
      parts.push_back(value.get<std::string>());
    else if (!value.is_boolean())
      parts.push_back(name + " " + text_of(value));
    else if (value.get<bool>())
      parts.push_back(name);
  }
  return join(parts, ", ");
}

std::string change_text(double ratio, double low, double high) {
  if (!std::isfinite(ratio)) return "n/a";
  const bool factor = std::abs(ratio - 1.0) > kAsFactor;
  const bool interval = std::isfinite(low) && std::isfinite(high);
  if (factor)
    return fmt::format("x {:.3g}", ratio) +
           (interval ? fmt::format(" [{:.3g}, {:.3g}]", low, high) : "");
  const auto percent = [](double one) { return 100.0 * (one - 1.0); };
  return fmt::format("{:+.2f} %", percent(ratio)) +
         (interval ? fmt::format(" [{:+.2f}, {:+.2f}]", percent(low), percent(high)) : "");
}

}  // namespace bench
