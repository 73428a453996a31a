#include "results/verdicts/nightly/fault_catalogue.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "results/verdicts/nightly/past.h"

namespace bench {

double fault_chance(const FaultPrior& prior, const FaultPast& past) {
  const auto found = static_cast<double>(past.found);
  const double share = (prior.found + found) / (prior.checked + static_cast<double>(past.checked));
  const double missed = std::min(1.0, share * (1.0 + static_cast<double>(past.incidents)));
  const double mtbf_s = (prior.mtbf_s + past.watched_s) / (1.0 + found);
  return 1.0 - (1.0 - missed) * std::exp(-past.age_s / mtbf_s);
}

double detection_probability(double assumed, std::size_t shown, std::size_t confirmed) {
  constexpr double kWeight = 2.0;
  return (static_cast<double>(shown) + assumed * kWeight) /
         (static_cast<double>(confirmed) + kWeight);
}

namespace {

FaultKind fault_kind(const Json& json) {
  FaultKind kind{json.at("name"), {}};
  kind.prior.found = json.at("assumed_found");
  kind.prior.checked = json.at("assumed_checks");
  kind.prior.mtbf_s = json.at("mtbf_days").get<double>() * kDay_s;
  kind.prior.loss = json.at("loss");
  return kind;
}

void check_names(const FaultCatalogue& catalogue, const std::string& origin) {
  std::vector<std::string> names;
  for (const FaultKind& kind : catalogue.faults) names.push_back(kind.name);
  for (const FaultDetector& detector : catalogue.detectors)
    if (std::ranges::find(names, detector.fault) == names.end())
      throw Error(ErrorKind::input,
                  origin + ": /finds: unknown fault '" + printable(detector.fault) + "'." +
                      did_you_mean(detector.fault, names),
                  "faults: " + join(names, ", "));
}

}  // namespace

std::map<std::string, double> FaultCatalogue::finds(const std::string& probe,
                                                    const std::string& device) const {
  const bool named = std::ranges::find(detectors, probe, &FaultDetector::probe) != detectors.end();
  std::map<std::string, double> found;
  for (const FaultDetector& one : detectors)
    if (one.probe == (named ? probe : "*") && (one.device.empty() || one.device == device))
      found[one.fault] = std::max(found[one.fault], one.chance);
  return found;
}

FaultCatalogue fault_catalogue(const Json& checked, const std::string& origin) {
  FaultCatalogue catalogue;
  for (const Json& fault : checked.at("faults")) catalogue.faults.push_back(fault_kind(fault));
  for (const Json& one : checked.at("finds"))
    catalogue.detectors.push_back(
        {one.at("probe"), one.value("device", ""), one.at("fault"), one.at("chance")});
  check_names(catalogue, origin);
  return catalogue;
}

}  // namespace bench
