#include "runner/hosts/inventory.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("hosts are listed with address, slots, labels and groups") {
  const Json list = hosts_list(inventory_from_json(Json::parse(R"({
    "hosts": [{"name": "n[1-2]", "slots": 96, "address": "{name}-ib", "labels": {"rack": "r1"}},
              {"name": "login", "slots": 4, "profile": "small", "devices": []}],
    "groups": {"first": "n1", "both": "n[1-2]"}})"),
                                                   "h.json"));
  REQUIRE(list.size() == 3);
  CHECK(list[0] ==
        Json::parse(R"({"name": "n1", "address": "n1-ib", "slots": 96, "devices": null, "cards": [],
    "labels": {"rack": "r1"}, "profile": null, "groups": ["both", "first"]})"));
  CHECK(list[2]["profile"] == "small");
  CHECK(list[2]["groups"] == Json::array());
  CHECK(hosts_table(list) ==
        "  name   address  slots  labels   groups\n"
        "  n1     n1-ib       96  rack=r1  both first\n"
        "  n2     n2-ib       96  rack=r1  both\n"
        "  login  login        4  -        -\n");
}

TEST_CASE("a label cannot send control characters to the terminal") {
  const Json list = hosts_list(Inventory{{{"a", "a", 1, Json(), {{"x", "\x1b[2J\n"}}}}});
  CHECK_THAT(hosts_table(list), Contains("x=\\x1b[2J\\x0a"));
}
