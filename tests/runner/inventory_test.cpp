#include "runner/inventory.h"

#include "core/error.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("a hosts file gives names, addresses, slots and labels") {
  const Inventory inventory = inventory_from_json(
      Json::parse(
          R"({"hosts": [{"name": "a", "slots": 2, "address": "10.0.0.1", "labels": {"rack": "r1"}},
                                {"name": "b", "slots": 4}]})"),
      "h.json");
  REQUIRE(inventory.hosts.size() == 2);
  CHECK(inventory.hosts[0].address == "10.0.0.1");
  CHECK(inventory.hosts[0].labels.at("rack") == "r1");
  CHECK(inventory.hosts[1].address == "b");
  CHECK(inventory.hosts[1].slots == 4);
}

TEST_CASE("a host that is listed twice is refused, naming the host") {
  CHECK_THROWS_WITH(
      inventory_from_json(
          Json::parse(R"({"hosts": [{"name": "a", "slots": 2}, {"name": "a", "slots": 2}]})"),
          "h.json"),
      Contains("/hosts/1/name") && Contains("'a'"));
}

TEST_CASE("a host without slots, or with none, is refused with its place") {
  CHECK_THROWS_WITH(inventory_from_json(Json::parse(R"({"hosts": [{"name": "a"}]})"), "h.json"),
                    Contains("h.json: /hosts/0") && Contains("slots"));
  CHECK_THROWS_WITH(
      inventory_from_json(Json::parse(R"({"hosts": [{"name": "a", "slots": 0}]})"), "h.json"),
      Contains("/hosts/0/slots"));
}

TEST_CASE("without a file there is this host, with the CPUs we may use") {
  const Inventory inventory = this_host_only();
  REQUIRE(inventory.hosts.size() == 1);
  CHECK(inventory.hosts[0].slots >= 1);
  CHECK(is_this_host(inventory.hosts[0]));
  CHECK(is_this_host({"x", "127.0.0.1", 1, Json(), {}}));
  CHECK_FALSE(is_this_host({"elsewhere-42", "10.1.2.3", 1, Json(), {}}));
}
