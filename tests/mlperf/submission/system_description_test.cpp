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

TEST_CASE("a software stack may be a string, a list or an object") {
  Json fields = whole_system();
  for (const Json& stack : {Json("a, b"), Json::array({"a", "b"})}) {
    fields["framework"] = stack;
    CHECK(system_description(fields).framework == "a, b");
  }
  fields["framework"] = {{"cuda", "13.0"}};
  CHECK(system_description(fields).framework == "13.0");
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
