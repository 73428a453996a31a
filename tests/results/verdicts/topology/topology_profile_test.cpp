#include "core/error.h"
#include "core/schema.h"
#include "tests/support/catch.h"
#include "tests/support/topology_host.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Profile with(const Json& expect, bool complete = false) {
  const Json json = {{"profile", "p"}, {"complete", complete}, {"expect", expect}};
  return profile_from_json(Schema::load("schemas/profile.json").check(json, "test"), "test");
}

std::vector<Difference> compared(const Json& expect) {
  return compare(with(expect), TopologyHost().shape());
}

}  // namespace

TEST_CASE("a violated profile rule is reported with its expectation") {
  const char* gpus = "gpu/10de:20b0/count";
  CHECK(compared({{gpus, {{"is", 8}}}}).empty());
  CHECK(compared({{gpus, {{"at_least", 8}}}}).empty());
  CHECK(compared({{gpus, {{"one_of", {4, 8}}}}}).empty());
  CHECK(compared({{gpus, {{"ignore", true}}}}).empty());
  CHECK(compared({{"gpu/10de:20b0/link", {{"at_least", 8}}}}).empty());
  CHECK(compared({{"setting/none_such", {{"is", nullptr}}}}).empty());

  const auto fewer = compared({{gpus, {{"at_least", 9}, {"note", "nine were bought"}}}});
  REQUIRE(fewer.size() == 1);
  CHECK(fewer[0].severity == Severity::missing);
  CHECK(fewer[0].expected == "at least 9");
  CHECK(fewer[0].note == "nine were bought");
  const auto other = compared({{"setting/thp", {{"one_of", {"always", "never"}}}}});
  REQUIRE(other.size() == 1);
  CHECK(other[0].expected == "one of always | never");
  CHECK(other[0].severity == Severity::setting);
  CHECK(compared({{"setting/thp", {{"is", nullptr}}}}).size() == 1);
}

TEST_CASE("a rule for a path takes precedence over one for its prefix") {
  const Profile profile =
      with({{"setting/*", {{"ignore", true}}}, {"setting/thp", {{"is", "never"}}}}, true);
  const Shape shape = {{"setting/thp", {"madvise"}}, {"setting/other", {"x"}}};
  const auto found = compare(profile, shape);
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "setting/thp");
}

TEST_CASE("a profile path with no rule, several rules or an inner star is rejected") {
  const auto refusal = [](const Json& expect) {
    try {
      with(expect);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refusal({{"a/b", Json::object()}}), Contains("a/b") && Contains("has 0 rules"));
  CHECK_THAT(refusal({{"a/b", {{"is", 1}, {"ignore", true}}}}), Contains("has 2 rules"));
  CHECK_THAT(refusal({{"a/*/b", {{"ignore", true}}}}), Contains("only at the end"));
  CHECK_THAT(refusal({{"a/*", {{"is", 1}}}}), Contains("of an ignored path"));
  CHECK_THAT(refusal({{"a/b", {{"at_least", "8"}}}}), Contains("at_least"));
  CHECK_THAT(refusal({{"a/b", {{"equals", 8}}}}), Contains("equals"));
}

TEST_CASE("a learned profile matches its host and its schema, and survives a round trip") {
  TopologyHost host;
  host.facts["machine"]["board"] = {{"unreadable", "no permission"}};
  const Profile profile =
      learn_profile("good", host.shape(), {{"host", "node01"}, {"run", "r"}, {"time", "t"}});
  CHECK(compare(profile, host.shape()).empty());
  const Json json = to_json(profile);
  const Json checked = Schema::load("schemas/profile.json").check(json, "learned");
  CHECK(to_json(profile_from_json(checked, "learned")) == json);
  CHECK(json["expect"]["machine/board"]["ignore"] == true);
  CHECK_THAT(json["expect"]["machine/board"]["note"].get<std::string>(), Contains("no permission"));
  CHECK(json["expect"]["memory/total_bytes"]["at_least"] == 0.99e12);
}

TEST_CASE("a profile with the older switch labels still matches its host") {
  const TopologyHost host;
  Json json = to_json(learn_profile("good", host.shape(), {}));
  Json& labels = json["expect"]["gpu/10de:20b0/switch"]["is"];
  const std::string label = labels.begin().key();
  REQUIRE(label.starts_with("with "));
  labels = {{"beside " + label.substr(5), labels.begin().value()}};
  CHECK(compare(profile_from_json(json, "older"), host.shape()).empty());
}
