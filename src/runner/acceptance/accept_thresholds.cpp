#include "runner/acceptance/accept_thresholds.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "core/metric_names.h"
#include "core/text.h"

namespace bench {
namespace {

void check_metrics(const std::map<std::string, double>& thresholds,
                   const ProbeCatalogue& catalogue) {
  std::vector<std::string> names;
  for (const ProbeEntry& probe : catalogue.all())
    for (const ProbeMetric& metric : probe.metrics) names.push_back(probe.name + "." + metric.name);
  for (const auto& [name, share] : thresholds)
    if (std::ranges::find(names, name) == names.end())
      throw Error(ErrorKind::usage,
                  "--threshold: unknown metric '" + name + "'." + did_you_mean(name, names),
                  "list metrics with `benchctl list metrics`");
}

}  // namespace

std::map<std::string, double> thresholds_from(const std::vector<std::string>& texts,
                                              const ProbeCatalogue& catalogue) {
  std::map<std::string, double> thresholds;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    char* end = nullptr;
    const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
    const double share = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(share > 0.0) || !(share < 1.0))
      throw Error(ErrorKind::usage,
                  "--threshold " + text + ": expected METRIC=SHARE with 0 < SHARE < 1",
                  "for example --threshold gemm.throughput=0.04");
    thresholds[std::string(current_metric_name(text.substr(0, equals)))] = share;
  }
  check_metrics(thresholds, catalogue);
  return thresholds;
}

}  // namespace bench
