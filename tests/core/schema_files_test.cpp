// What must hold for every file in schemas/, and for the messages a user of suites and hosts sees.
#include <filesystem>

#include "core/error.h"
#include "core/schema.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> schema_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator("schemas"))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  return files;
}

/// Calls `visit` for each object in `json`; schemas have nothing else that has "properties".
template <class Visit>
void for_each_object(const Json& json, const Visit& visit) {
  if (json.is_object()) visit(json);
  if (json.is_structured())
    for (const Json& member : json) for_each_object(member, visit);
}

std::string file_refusal(const std::string& schema, const std::string& value) {
  try {
    Schema::load("schemas/" + schema + ".json").check(parse_json(value, "test"), "x.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

const std::string kSuite = R"({"suite": "smoke", "cases": [{"name": "a", "probe": "null"}]})";

}  // namespace

TEST_CASE("every schema can be read") {
  const auto files = schema_files();
  CHECK(files.size() >= 5);
  for (const auto& file : files) {
    INFO(file);
    CHECK_NOTHROW(Schema::load(file));
  }
}

TEST_CASE("our checker and another JSON Schema checker agree") {
  for (const auto& file : schema_files())
    for_each_object(read_json(file), [&](const Json& schema) {
      if (!schema.contains("properties") || !schema["properties"].is_object()) return;
      INFO(file << ": " << dump(schema).substr(0, 200));
      // Ours closes an object with properties, the standard leaves it open: both need it said.
      CHECK(schema.contains("additionalProperties"));
      // Ours fills in a default and then finds it there, another finds it missing.
      for (const Json& name : schema.value("required", Json::array()))
        CHECK_FALSE(schema["properties"]
                        .value(name.get<std::string>(), Json::object())
                        .contains("default"));
    });
}

TEST_CASE("every default is allowed by its own schema") {
  for (const auto& file : schema_files()) {
    const Json root = read_json(file);
    for_each_object(root, [&](const Json& object) {
      if (!object.contains("default") || object.contains("properties")) return;
      Json schema = object;
      if (root.contains("$defs")) schema["$defs"] = root["$defs"];
      INFO(file << ": " << dump(object));
      CHECK_NOTHROW(Schema(schema, file.string()).check(object["default"], "default"));
    });
  }
}

TEST_CASE("the smallest suite is filled with defaults") {
  const Json suite = Schema::load("schemas/suite.json").check(parse_json(kSuite, "test"), "x.json");
  const Json& first = suite["cases"][0];
  CHECK(first["device"] == "host");
  CHECK(first["ranks_per_host"] == 1);
  CHECK(first["binding"] == "core");
  CHECK(first["timeout_s"] == 60);
  CHECK(first["gates"] == Json::array());
  CHECK(first["measure"] == Json::object());
}

TEST_CASE("an error in a suite is located") {
  const auto with = [](const std::string& more) {
    return R"({"suite": "s", "cases": [{"name": "a", "probe": "null", )" + more + "}]}";
  };
  CHECK_THAT(file_refusal("suite", "{}"), Contains("is missing"));
  CHECK_THAT(file_refusal("suite", R"({"suite": "s", "cases": []})"),
             Contains("/cases: 0 elements"));
  CHECK_THAT(file_refusal("suite", R"({"suite": "S!", "cases": [{"name": "a", "probe": "p"}]})"),
             Contains("\"S!\" does not match"));
  CHECK_THAT(file_refusal("suite", with(R"("axis": {})")),
             Contains("/cases/0/axis: unknown key; Did you mean 'axes'?"));
  CHECK_THAT(file_refusal("suite", with(R"("axes": {"m": 3})")),
             Contains("/cases/0/axes/m: expected an array"));
  CHECK_THAT(file_refusal("suite", with(R"("ranks_per_host": "slot")")),
             Contains("Did you mean 'slots'?"));
  CHECK_THAT(file_refusal("suite", with(R"("ranks_per_host": 0)")),
             Contains("below the minimum 1"));
  CHECK_THAT(file_refusal("suite", with(R"("env": {"A": 1})")),
             Contains("/cases/0/env/A: expected a string"));
  CHECK_THAT(file_refusal("suite", with(R"("measure": {"interval": 0})")),
             Contains("value 0 is not above 0"));
  CHECK(
      file_refusal("suite", with(R"("gates": [{"metric": "throughput", "min_of_limit": 0.9}])")) ==
      "accepted");
}

TEST_CASE("a gate that could never fail is refused") {
  const std::string suite =
      R"({"suite": "s", "cases": [{"name": "a", "probe": "p", "gates": [{"metric": "m"}]}]})";
  try {
    Schema::load("schemas/suite.json").check(parse_json(suite, "test"), "x.json");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("/cases/0/gates/0"));
    CHECK_THAT(error.hint(), Contains("at least one of min, max and min_of_limit"));
  }
}

TEST_CASE("a host's name and address cannot pass for an option or a command") {
  const auto host = [](const std::string& name, const std::string& address) {
    return R"({"hosts": [{"name": ")" + name + R"(", "slots": 2, "address": ")" + address +
           R"("}]})";
  };
  CHECK(file_refusal("hosts", host("node01", "admin@10.0.0.1")) == "accepted");
  CHECK(file_refusal("hosts", host("node01.cluster", "[fe80::1%eth0]")) == "accepted");
  CHECK(file_refusal("hosts", host("node[01-16],login", "{name}-ib")) == "accepted");
  CHECK(file_refusal("hosts", host("node01", "a,b")) != "accepted");
  for (const char* bad : {"-oProxyCommand=x", "a b", "a;b", "$(x)", "a\\nb", ""}) {
    CHECK(file_refusal("hosts", host("node01", bad)) != "accepted");
    CHECK(file_refusal("hosts", host(bad, "node01")) != "accepted");
  }
}
