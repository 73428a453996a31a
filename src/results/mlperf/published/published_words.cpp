#include "results/mlperf/published/published_words.h"

#include <fmt/format.h>

#include <cmath>

#include "results/mlperf/disclaimer.h"

namespace bench::mlperf {

std::string format_share(double share) {
  return std::isfinite(share) ? fmt::format("{:.0f} %", 100.0 * share) : "";
}

std::string series_title(const PublishedSeries& series) {
  std::string title = series.benchmark + " of " + series.submitter;
  if (!series.accelerator.empty()) title += " on " + series.accelerator;
  return series.division == "closed" ? title : title + ", division " + series.division;
}

std::string scaling_legend() {
  return fmt::format(
      "minutes: olympic mean of the raw times; score = minutes times the factor "
          "of the convergence test; time efficiency = throughput efficiency / "
          "penalty, where penalty is the extra samples that a larger batch needs. "
          "Efficiencies and figures per accelerator: {}.",
      kDerived);
}

std::string format_samples(double samples) {
  if (!std::isfinite(samples)) return "";
  return samples == std::floor(samples) ? fmt::format("{:.0f}", samples)
                                        : fmt::format("{:.4g}", samples);
}

}  // namespace bench::mlperf
