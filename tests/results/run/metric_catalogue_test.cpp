// What schemas/probes say of metrics is what verdicts use.
#include "results/run/metric_catalogue.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/units.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Catch::Contains;

std::string refusal(const Json& metric) {
  MetricCatalogue catalogue;
  try {
    catalogue.add_probe("gemm", {{"metrics", {{"throughput", metric}}}}, "gemm.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("metrics declare their thresholds; the default is 1 %") {
  CHECK(declaration("gemm.throughput").threshold == 0.01);
  CHECK(declaration("gemm.throughput").log_scale);
  CHECK_FALSE(declaration("gemm.throughput").exact);
  CHECK(declaration("topology.cores").exact);
  CHECK_FALSE(declaration("topology.memory").exact);
  CHECK_FALSE(declaration("training.quality").log_scale);
  CHECK(combined(std::vector<double>{3.0, 1.0, 2.0}, Combine::median) == 2.0);
  CHECK(combined(std::vector<double>{3.0, 1.0, 2.0}, Combine::least) == 1.0);
  CHECK(combined(std::vector<double>{3.0, 1.0, 2.0}, Combine::greatest) == 3.0);
}

TEST_CASE("a metric that repeats another names one of its probe") {
  CHECK(declaration("gemm.per_cycle").same_as == "gemm.throughput");
  CHECK(declaration("gemm.throughput").same_as.empty());
  CHECK_THAT(refusal({{"resource", "compute"}, {"same_as", "rate"}}),
             Contains("metric 'throughput' is declared the same as 'rate'"));
  CHECK_THAT(refusal({{"resource", "compute"}, {"same_as", "throughput"}}), Contains("no other"));
}

TEST_CASE("thresholds depend on the class, and redundant metrics are not judged") {
  CHECK(practical_threshold("gemm.throughput") == 0.06);
  CHECK(practical_threshold("memory_bandwidth.bandwidth") == 0.02);
  CHECK(practical_threshold("copy.bandwidth") == 0.02);
  CHECK(practical_threshold("collective.busbw") == 0.03);
  CHECK(practical_threshold("something.new") == 0.01);
  CHECK_FALSE(practical_threshold("collective.algbw"));
  CHECK(practical_threshold("collective.busbw", {{"collective.busbw", 0.2}}) == 0.2);
}

TEST_CASE("a metric without a resource is refused, naming file and metric") {
  CHECK_THAT(refusal({{"unit", "s"}}), Contains("gemm.json") && Contains("'throughput'"));
  CHECK_THAT(refusal({{"resource", 1}}), Contains("'throughput' has no resource"));
  CHECK_THAT(refusal({{"resource", "magic"}}), Contains("unknown resource 'magic'"));
  CHECK(refusal({{"resource", "compute"}}) == "accepted");
}

TEST_CASE("an undeclared metric takes the resource that its probe's metrics share") {
  CHECK(resource_of("gemm.throughput") == Resource::compute);
  CHECK(resource_of("external.loss_scale") == Resource::workload);
  CHECK(resource_of("collective.busbw") == Resource::links);
  CHECK(resource_of("collective.latency") == Resource::latency);
  CHECK(resource_of("unknown.metric") == Resource::other);
}

TEST_CASE(
    "every metric of every schema declares unit, direction and resource, and nothing unknown") {
  const std::set<std::string> known = {
      "unit",   "better",    "resource",    "description",    "limit",   "exact",  "scale",
      "judged", "threshold", "noise_floor", "peer_threshold", "same_as", "derived"};
  std::size_t metrics = 0;
  for (const auto& entry : std::filesystem::directory_iterator("schemas/probes")) {
    const Json schema = read_json(entry.path());
    for (const auto& [name, metric] : schema.at("metrics").items()) {
      INFO(entry.path() << ": " << name);
      ++metrics;
      CHECK_NOTHROW(unit_from(metric.at("unit").get<std::string>()));
      CHECK_NOTHROW(better_from(metric.at("better").get<std::string>()));
      CHECK(metric.contains("resource"));
      CHECK(metric.contains("description"));
      for (const auto& [key, value] : metric.items()) CHECK(known.contains(key));
      for (const char* share : {"threshold", "noise_floor", "peer_threshold"}) {
        const double value = metric.value(share, 0.0);
        CHECK((value >= 0.0 && value < 1.0));
      }
      if (metric.contains("scale"))
        CHECK((metric["scale"] == "linear" || metric["scale"] == "log"));
    }
  }
  CHECK(metrics > 80);
}

}  // namespace
}  // namespace bench
