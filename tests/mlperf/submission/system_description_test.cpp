#include "mlperf/submission/system_description.h"


#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

using Catch::Matchers::Contains;

Json whole_system() {
  Json fields = Json::object();
  for (const std::string& name : system_fields()) fields[name] = "";
  fields["submitter"] = "acme";
  fields["division"] = "closed";
  fields["status"] = "Available cloud";
  fields["number_of_nodes"] = "2";
  fields["host_processors_per_node"] = 2;
  fields["accelerators_per_node"] = 4.0;
  return fields;
}

std::vector<std::string> rules_of(const std::vector<Finding>& findings) {
  std::vector<std::string> rules;
  for (const Finding& finding : findings) rules.push_back(finding.rule + " " + finding.key);
  return rules;
}

}  // namespace

TEST_CASE("system counts are read from numbers and numeric strings") {
  const SystemDescription system = system_description(whole_system());
  CHECK(system.nodes == 2);
  CHECK(system.processors_per_node == 2);
  CHECK(system.accelerators() == 8);
  Json absurd = whole_system();
  absurd["number_of_nodes"] = absurd["accelerators_per_node"] = 1e9;
  CHECK_FALSE(system_description(absurd).accelerators());
  for (const Json& none : {Json(""), Json("8x"), Json("-4"), Json(1.5), Json(nullptr), Json(true),
                           Json("99999999999999999999"), Json(Json::array({8}))}) {
    INFO(none);
    Json fields = whole_system();
    fields["accelerators_per_node"] = none;
    CHECK_FALSE(system_description(fields).accelerators());
  }
}

TEST_CASE("a complete system description has no findings, and each fault has its own") {
  CHECK(check_system_description(system_description(whole_system())).empty());
  Json fields = whole_system();
  fields.erase("cooling");
  fields["status"] = "Available onpremise";
  fields["division"] = "Closed";
  fields["number_of_nodes"] = 0;
  fields["other_software_stack"] = "TODO";
  const auto findings = check_system_description(system_description(fields));
  CHECK(rules_of(findings) ==
        std::vector<std::string>{"system.field cooling", "system.status status",
                                 "system.division division", "system.count number_of_nodes",
                                 "system.placeholder other_software_stack"});
  CHECK(findings[0].official);
  CHECK(findings[1].official);
  CHECK_THAT(findings[1].text, Contains("Did you mean 'Available on-premise'?"));
  CHECK_FALSE(findings[2].official);
  CHECK(findings[4].severity == Severity::warning);
}

TEST_CASE("a software stack may be a string, a list or an object") {
  for (const Json& stack : {Json("a, b"), Json::array({"a", "b"}), Json({{"cuda", "13.0"}})}) {
    Json fields = whole_system();
    fields["other_software_stack"] = stack;
    fields["framework"] = stack;
    CHECK(check_system_description(system_description(fields)).empty());
  }
  Json fields = whole_system();
  fields["framework"] = Json::array({"PyTorch", "NeMo"});
  CHECK(system_description(fields).framework == "PyTorch, NeMo");
}

TEST_CASE("an invalid system description is rejected by name") {
  CHECK_THROWS_WITH(system_description("{\"a\": ", "x.json"),
                    Contains("x.json") && Contains("not valid JSON"));
  CHECK_THROWS_WITH(system_description("[1]", "x.json"), Contains("not a JSON object"));
  CHECK_THROWS_WITH(system_description(std::string(100'000, '['), "x.json"),
                    Contains("nested deeper"));
  CHECK_THROWS_WITH(system_description(std::string((1 << 20) + 1, ' '), "x.json"),
                    Contains("too large for a system description"));
  CHECK(system_description(R"({"framework": "a", "framework": "b"})", "x.json").framework == "b");
}

}  // namespace bench::mlperf
