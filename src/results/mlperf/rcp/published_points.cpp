#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "results/mlperf/rcp/rcp_files.h"

namespace bench::mlperf {
namespace {

constexpr std::size_t kMinTrainings = 3;  // the lowest and the highest are dropped
constexpr double kMost = 1e15;

[[noreturn]] void refuse(const std::string& origin, const std::string& name,
                         const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}: '{}' {}", origin, printable(name), what),
              "write a point as {\"Benchmark\": \"flux1\", \"BS\": 512, \"Epochs to "
          "converge\": [at least three numbers]}");
}

bool positive(const Json& value) {
  return value.is_number() && value.get<double>() > 0.0 && value.get<double>() <= kMost;
}

std::vector<double> trainings(const Json& record, const std::string& origin,
                              const std::string& name) {
  const Json& samples = array_field(record, "samples to converge");
  const Json& list = samples.empty() ? array_field(record, "Epochs to converge") : samples;
  std::vector<double> values;
  for (const Json& value : list) {
    if (!positive(value))
      refuse(origin, name, "has " + excerpt(value) + " in its list of trainings");
    values.push_back(value.get<double>());
  }
  if (values.size() < kMinTrainings)
    refuse(origin, name,
           fmt::format("lists {} trainings, but needs at least {}", values.size(), kMinTrainings));
  return values;
}

}  // namespace

std::vector<RcpPoint> published_points(const Json& json, const RcpSet& set,
                                       const std::string& origin) {
  if (!json.is_object() || json.empty())
    throw Error(ErrorKind::input, origin + ": no reference convergence points",
                "write an object with one key for each point");
  std::vector<RcpPoint> points;
  for (const auto& [name, record] : json.items()) {
    if (text_field(record, "Benchmark") != set.benchmark)
      refuse(origin, name,
             "is for the benchmark " + excerpt(field(record, "Benchmark")) + ", not " + set.benchmark);
    if (!positive(field(record, "BS")))
      refuse(origin, name, "has the invalid batch \"BS\": " + excerpt(field(record, "BS")));
    points.push_back(
        summarise(name, number_field(record, "BS"), trainings(record, origin, name), set.runs));
  }
  std::ranges::stable_sort(points, {}, &RcpPoint::batch);
  return points;
}

}  // namespace bench::mlperf
