#include "results/compare/efficiency_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/compare/compare_output.h"

namespace bench {
namespace {

std::string share_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100.0 * share) : "";
}

std::string factor_text(double factor) {
  return std::isfinite(factor) ? fmt::format("x {:.3g}", factor) : "";
}

}  // namespace

std::string efficiency_text(const Comparison& comparison, const TextStyle& style) {
  const bool priced = std::ranges::any_of(comparison.metrics, [](const ComparedMetric& metric) {
    return std::isfinite(metric.per_dollar);
  });
  if (comparison.hardware_a == comparison.hardware_b && !priced) return "";
  const auto resources = resource_ratios(comparison);
  Table table({{.title = "metric", .right = false},
               {.title = "params", .right = false, .drop = 1},
               {.title = "bound by", .right = false},
               {.title = "A of limit"},
               {.title = "B of limit"},
               {.title = "work"},
               {.title = "per watt"},
               {.title = "per GPU"},
               {.title = "per dollar"}});
  for (const ComparedMetric& metric : comparison.metrics) {
    const double ratio = work_ratio(metric);
    if (!std::isfinite(ratio)) continue;
    std::string bound_by(to_string(metric.resource));
    if (metric.resource == Resource::workload)
      if (const std::string from = follows(ratio, resources); !from.empty())
        bound_by += " (scales with " + from + ")";
    table.add({{printable(metric.key.metric)},
               {printable(params_text(metric.params))},
               {bound_by},
               {share_text(metric.a.of_limit)},
               {share_text(metric.b.of_limit)},
               {factor_text(ratio)},
               {factor_text(metric.per_watt)},
               {factor_text(metric.per_gpu)},
               {factor_text(metric.per_dollar)}});
  }
  std::string text = table.render(2, style);
  for (const ResourceRatio& one : resources)
    text += fmt::format("  {:<10} x {:.3g}, geometric mean of the {} rows above\n",
                        to_string(one.resource), one.ratio, one.metrics);
  return text;
}

}  // namespace bench
