// benchctl knows probes only through schemas/probes/*.json: what stands there must be what is
// built.
#include <filesystem>
#include <set>

#include "core/json.h"
#include "core/units.h"
#include "probes/probe.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

// ctest starts the unit tests in the root of the source tree.
const std::filesystem::path kSchemas = "schemas/probes";

TEST_CASE("every probe has a schema and every schema a probe") {
  std::set<std::string> built;
  for (const Probe& probe : all_probes()) built.insert(probe.name);
  std::set<std::string> described;
  for (const auto& entry : std::filesystem::directory_iterator(kSchemas))
    if (entry.path().extension() == ".json") described.insert(entry.path().stem().string());
  CHECK(built == described);
}

TEST_CASE("a probe and its schema agree on metrics, units and directions") {
  for (const Probe& probe : all_probes()) {
    const Json schema = read_json(kSchemas / (probe.name + ".json"));
    INFO(probe.name);
    CHECK(schema.at("title") == probe.name);
    CHECK(schema.at("additionalProperties") == false);
    CHECK(schema.at("metrics").size() == probe.metrics.size());
    for (const MetricInfo& metric : probe.metrics) {
      INFO(metric.name);
      REQUIRE(schema.at("metrics").contains(metric.name));
      const Json& declared = schema.at("metrics").at(metric.name);
      CHECK(declared.at("unit") == to_string(metric.unit));
      CHECK(declared.at("better") == to_string(metric.better));
    }
  }
}

TEST_CASE("every parameter of a probe has a type, a default and a description") {
  for (const Probe& probe : all_probes()) {
    const Json schema = read_json(kSchemas / (probe.name + ".json"));
    for (const auto& [name, property] : schema.at("properties").items()) {
      INFO(probe.name << "." << name);
      CHECK((property.contains("type") || property.contains("enum") || property.contains("anyOf")));
      CHECK(property.contains("description"));
      const auto required = schema.value("required", Json::array());
      CHECK((property.contains("default") ||
             std::find(required.begin(), required.end(), name) != required.end()));
    }
  }
}

}  // namespace
}  // namespace bench
