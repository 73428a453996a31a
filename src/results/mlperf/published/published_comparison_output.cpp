#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/compare/compare_json.h"
#include "results/compare/compare_output.h"
#include "results/mlperf/disclaimer.h"
#include "results/mlperf/published/published_comparison.h"
#include "results/scaling/scaling_words.h"

namespace bench::mlperf {
namespace {

std::string unequal_text(const PerAccelerator& one) {
  std::string text = fmt::format(
      "{}: {} of {:g} needs {:.3f} times the accelerator time of {} of "
      "{:g}",
      printable(one.benchmark), printable(one.system_b), one.accelerators_b, one.ratio.value,
      printable(one.system_a), one.accelerators_a);
  if (std::isfinite(one.ratio.low))
    text += fmt::format(" [{:.3f}, {:.3f}]", one.ratio.low, one.ratio.high);
  return text;
}

}  // namespace

std::string to_text(const PublishedComparison& comparison, const TextStyle& style) {
  std::string text = bench::to_text(comparison.comparison, style, true);
  if (!comparison.unequal.empty()) {
    text += "\n" + paint("Different numbers of accelerators", Paint::bold, style) + "  " +
            std::string(kDerived) + "\n";
    for (const PerAccelerator& one : comparison.unequal)
      text += "  " + wrap(unequal_text(one), 2, 4, style) + "\n";
  }
  if (comparison.benchmarks > 0)
    text += fmt::format(
        "\n"
          "Geometric mean over {} benchmarks, nearest system sizes: B needs {:.3f} times the accelerator time ({}).\n",
        comparison.benchmarks, comparison.geometric_mean, kDerived);
  return text + "Times are scored times, including the scaling factors of the convergence "
          "test; " +
         std::string(kNotVerified) + ".\n";
}

Json to_json(const PublishedComparison& comparison) {
  Json json = bench::to_json(comparison.comparison);
  json["notice"] = kNotVerified;
  json["unequal"] = Json::array();
  for (const PerAccelerator& one : comparison.unequal)
    json["unequal"].push_back({{"benchmark", one.benchmark},
                               {"system_a", one.system_a},
                               {"system_b", one.system_b},
                               {"accelerators_a", one.accelerators_a},
                               {"accelerators_b", one.accelerators_b},
                               {"ratio", one.ratio.value},
                               {"low", one.ratio.low},
                               {"high", one.ratio.high}});
  json["accelerator_time"] = {{"geometric_mean", comparison.geometric_mean},
                              {"benchmarks", comparison.benchmarks},
                              {"derived", kDerived}};
  json["exit_code"] = static_cast<int>(comparison.exit_code());
  return json;
}

}  // namespace bench::mlperf
