// benchctl knows probes only by schemas/probes/*.json: every schema must belong to a probe that is
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

TEST_CASE("every procedure has a schema and every schema a procedure") {
  std::set<std::string> known;
  for (const Probe& probe : all_probes()) {
    INFO(probe.name);
    CHECK(probe.run != nullptr);         // none: a schema without a procedure
    CHECK_FALSE(probe.metrics.empty());  // empty: a procedure without a schema
    known.insert(probe.name);
  }
  std::set<std::string> described;
  for (const auto& entry : std::filesystem::directory_iterator(kSchemas))
    if (entry.path().extension() == ".json") described.insert(entry.path().stem().string());
  CHECK(known == described);
}

TEST_CASE("what was compiled in is what the schemas declare") {
  for (const Probe& probe : all_probes()) {
    const Json schema = read_json(kSchemas / (probe.name + ".json"));
    INFO(probe.name);
    CHECK(schema.at("title") == probe.name);
    CHECK(schema.at("description") == probe.description);
    CHECK(schema.at("additionalProperties") == false);
    Json metrics = schema.at("metrics");
    for (auto& metric : metrics)
      metric = {{"unit", metric.at("unit")}, {"better", metric.at("better")}};
    Json compiled;
    for (const MetricInfo& metric : probe.metrics)
      compiled[std::string(metric.name)] = {{"unit", to_string(metric.unit)},
                                            {"better", to_string(metric.better)}};
    CHECK(compiled == metrics);
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
