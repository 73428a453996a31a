#include "results/diagnosis/observation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/order_statistics.h"
#include "results/json_fields.h"

namespace bench::diagnosis {
namespace {

double combine_values(Combine combine, const std::vector<double>& values) {
  switch (combine) {
    case Combine::sum:
      return std::accumulate(values.begin(), values.end(), 0.0);
    case Combine::largest:
      return std::ranges::max(values);
    case Combine::least:
      return std::ranges::min(values);
    case Combine::median:
      break;
  }
  return median(values);
}

/// Values of the repeats that have one.
std::vector<double> values_of(const std::vector<Observation>& repeats, Measure measure) {
  std::vector<double> values;
  for (const Observation& one : repeats)
    if (const Measured* found = one.find(measure)) values.push_back(found->value);
  return values;
}

std::string repeats_source(const std::vector<Observation>& repeats, Measure measure) {
  const Measured* first = repeats.front().find(measure);
  const std::string others = std::to_string(repeats.size() - 1);
  return repeats.size() == 1 ? first->source : first->source + ", and " + others + " repeats";
}

std::string why_of(const std::vector<Observation>& repeats, Measure measure) {
  for (const Observation& one : repeats)
    if (one.find(measure) == nullptr) return one.why_missing(measure);
  return "";
}

}  // namespace

const std::vector<Measure>& step_parts() {
  static const std::vector<Measure> parts = {Measure::data_share,       Measure::transfer_share,
                                             Measure::passes_share,     Measure::exchange_share,
                                             Measure::optimizer_share,  Measure::lane_wait_share,
                                             Measure::checkpoint_share, Measure::residual_share};
  return parts;
}

void Observation::set(Measure measure, double value, std::string source) {
  if (std::isfinite(value)) values_[measure] = {value, std::move(source)};
}

void Observation::set_missing(Measure measure, std::string why) {
  values_.erase(measure);
  missing_[measure] = std::move(why);
}

const Measured* Observation::find(Measure measure) const {
  const auto found = values_.find(measure);
  return found == values_.end() ? nullptr : &found->second;
}

double Observation::value(Measure measure) const {
  const Measured* found = find(measure);
  return found == nullptr ? kNoValue : found->value;
}

std::string Observation::why_missing(Measure measure) const {
  const auto found = missing_.find(measure);
  return found == missing_.end() ? "" : found->second;
}

void add_sums(Observation& observation) {
  const double work =
      observation.value(Measure::passes_share) + observation.value(Measure::optimizer_share);
  observation.set(Measure::work_share, work, "passes and update");
  if (observation.find(Measure::residual_share) != nullptr) return;
  double rest = 1.0;
  for (const Measure part : step_parts())
    if (part != Measure::residual_share) rest -= observation.value(part);
  observation.set(Measure::residual_share, std::max(rest, 0.0), "step time minus all other parts");
}

Observation combined(const std::vector<Observation>& repeats) {
  Observation all = repeats.front();
  for (std::size_t i = 1; i < repeats.size(); ++i)
    all.jobs.insert(all.jobs.end(), repeats[i].jobs.begin(), repeats[i].jobs.end());
  for (std::size_t i = 0; i < kMeasures; ++i) {
    const auto measure = static_cast<Measure>(i);
    const auto values = values_of(repeats, measure);
    if (values.size() < repeats.size())
      all.set_missing(measure, why_of(repeats, measure));
    else
      all.set(measure, combine_values(words_of(measure).combine, values),
              repeats_source(repeats, measure));
  }
  return all;
}

}  // namespace bench::diagnosis
