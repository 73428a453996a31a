#include "results/compare/ladder_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/compare/compare_output.h"

namespace bench {

std::string speed_up_text(const SpeedUp& speed_up) {
  if (!std::isfinite(speed_up.ratio)) return "";
  if (!std::isfinite(speed_up.low)) return fmt::format("x {:.3f}", speed_up.ratio);
  return fmt::format("x {:.3f} [{:.3f}, {:.3f}]", speed_up.ratio, speed_up.low, speed_up.high);
}

std::string changes_text(const std::vector<FactChange>& changes, std::size_t shown) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(shown, changes.size()); ++i)
    parts.push_back(
        fmt::format("{}: {} to {}", changes[i].fact, changes[i].before, changes[i].after));
  if (changes.size() > shown) parts.push_back(fmt::format("and {} more", changes.size() - shown));
  return join(parts, "; ");
}

std::string ladder_title(const LadderMetric& metric) {
  const std::string params = params_text(metric.params);
  return metric.key.metric + (params.empty() ? "" : ", " + params);
}

}  // namespace bench
