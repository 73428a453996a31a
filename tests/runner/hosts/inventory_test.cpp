#include "runner/hosts/inventory.h"

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
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

TEST_CASE("a duplicate host is refused by name") {
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

namespace {

Inventory inventory_from(const std::string& text) {
  return inventory_from_json(Json::parse(text), "h.json");
}

Inventory with_mpirun(const std::string& settings) {
  return inventory_from(R"({"hosts": [{"name": "a", "slots": 1}], "mpirun": )" + settings + "}");
}

Inventory with_address(const std::string& address) {
  return inventory_from_json({{"hosts", {{{"name", "a"}, {"slots", 1}, {"address", address}}}}},
                             "h.json");
}

}  // namespace

TEST_CASE("an entry may be an expression: its hosts share the rest, {name} stands for each") {
  const Inventory inventory = inventory_from(R"({"hosts": [
    {"name": "node[08-10],login", "slots": 4, "address": "bench@{name}-ib.{name}.site",
     "devices": ["cuda:0"], "labels": {"rack": "r1"}, "profile": "h100"}]})");
  REQUIRE(inventory.hosts.size() == 4);
  const Host& host = inventory.hosts[2];
  CHECK(host.name == "node10");
  CHECK(host.address == "bench@node10-ib.node10.site");
  CHECK(host.slots == 4);
  CHECK(host.devices == Json{"cuda:0"});
  CHECK(host.labels.at("rack") == "r1");
  CHECK(host.profile == "h100");
  CHECK(inventory.hosts[3].name == "login");
}

TEST_CASE("a host that two expressions give is refused, naming the host") {
  CHECK_THROWS_WITH(
      inventory_from(
          R"({"hosts": [{"name": "n[1-5]", "slots": 1}, {"name": "n[5-9]", "slots": 1}]})"),
      Contains("/hosts/1/name") && Contains("'n5'") && Contains("twice"));
  CHECK_THROWS_WITH(inventory_from(R"({"hosts": [{"name": "a,a", "slots": 1}]})"), Contains("'a'"));
}

TEST_CASE("a wrong host expression is refused at its place in the file") {
  CHECK_THROWS_WITH(inventory_from(R"({"hosts": [{"name": "n[1-", "slots": 1}]})"),
                    Contains("h.json: /hosts/0/name: ") && Contains("position 5"));
  CHECK_THROWS_WITH(
      inventory_from(
          R"({"hosts": [{"name": "n[1-60000]", "slots": 1}, {"name": "m[1-60000]", "slots": 1}]})"),
      Contains("/hosts/1/name") && Contains("more than 40000 hosts"));
}

TEST_CASE("an address cannot become an option or mean anything to a shell") {
  CHECK(with_address("root@10.0.0.1").hosts[0].address == "root@10.0.0.1");
  CHECK(with_address("[fe80::1%eth0]").hosts[0].address == "[fe80::1%eth0]");
  for (const std::string address : {"-oProxyCommand=x", "a@-oProxyCommand", "-a@b", "a b", "a;b",
                                    "$(x)", "a`b`", "a|b", "a,b", "{nam}", "a\nb", ""})
    CHECK_THROWS_WITH(with_address(address), Contains("/hosts/0/address"));
  CHECK_THROWS_WITH(
      inventory_from_json(
          {{"hosts",
            {{{"name", std::string(200, 'n')}, {"slots", 1}, {"address", "{name}{name}"}}}}},
          "h.json"),
      Contains("/hosts/0/address"));
}

TEST_CASE("groups name hosts of the file, in its order") {
  const Inventory inventory = inventory_from(R"({"hosts": [{"name": "n[1-9]", "slots": 1}],
                                       "groups": {"odd": "n9,n[1,3,5,7]", "one": "n1"}})");
  REQUIRE(inventory.groups.size() == 2);
  CHECK(inventory.groups[0].name == "odd");
  CHECK(inventory.groups[0].hosts == std::vector<std::size_t>{0, 2, 4, 6, 8});
}

TEST_CASE("a group of an unknown host is refused with the nearest name") {
  const auto with_groups = [](const std::string& groups) {
    return inventory_from(R"({"hosts": [{"name": "node[01-20]", "slots": 1}], "groups": )" +
                          groups + "}");
  };
  CHECK_THROWS_WITH(with_groups(R"({"r": "node[01-02],nod03"})"),
                    Contains("/groups/r") && Contains("'nod03'") && Contains("'node03'"));
  CHECK_THROWS_WITH(with_groups(R"({"r": "node01,node01"})"), Contains("twice"));
  CHECK_THROWS_WITH(with_groups(R"({"r": "node[01"})"), Contains("/groups/r: "));
  CHECK_THROWS_WITH(with_groups(R"({"a b": "node01"})"), Contains("/groups/a b: "));
  CHECK_THROWS_WITH(with_groups(R"({"a[1]": "node01"})"), Contains("invalid group name"));
}

TEST_CASE("mpirun settings have defaults, and ssh gets timeouts") {
  const LaunchSettings settings = with_mpirun("{}").launch;
  CHECK(settings == LaunchSettings{});
  CHECK(agent_command(settings) ==
        std::vector<std::string>{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o",
                                 "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"});
}

TEST_CASE("the agent's own options go first; none are added if disabled or for other agents") {
  CHECK(agent_command(
            with_mpirun(R"({"agent": ["/usr/bin/ssh", "-p", "2222"], "connect_timeout_s": 3})")
                .launch)[6] == "ConnectTimeout=3");
  CHECK(agent_command(with_mpirun(R"({"agent_options": false})").launch) ==
        std::vector<std::string>{"ssh"});
  CHECK(agent_command(with_mpirun(R"({"agent": ["rsh", "-l", "x"]})").launch) ==
        std::vector<std::string>{"rsh", "-l", "x"});
}

TEST_CASE("site settings cannot become options or shell text") {
  CHECK(with_mpirun(R"({"mca": {"btl": "^openib", "coll_tuned_priority": "-1"},
                        "interfaces": "eth0,10.0.0.0/16", "env": {"A_1": "x y=$z"},
                        "rank_program": "/opt/bench/bin/bench-rank"})")
            .launch.mca.at("btl") == "^openib");
  for (const std::string settings : {R"({"agent": []})",
                                     R"({"agent": ["-oProxyCommand=x"]})",
                                     R"({"agent": ["ssh", "a b"]})",
                                     R"({"agent": ["ssh:rsh"]})",
                                     R"({"interfaces": "-x"})",
                                     R"({"interfaces": "eth0;id"})",
                                     R"({"mca": {"A": "1"}})",
                                     R"({"mca": {"a-b": "1"}})",
                                     R"({"mca": {"": "1"}})",
                                     R"({"mca": {"a": "--help"}})",
                                     R"({"mca": {"a": "`id`"}
})",
                                     R"({"mca": {"a": "x y"}})",
                                     R"({"mca": {"plm_rsh_agent": "sh"}})",
                                     R"({"env": {"A=B": "1"}})",
                                     R"({"env": {"1A": "1"}})",
                                     R"({"env": {"A": "x;B=y"}})",
                                     R"({"env": {"A": "x\ny"}})",
                                     R"({"rank_program": "bench-rank"})",
                                     R"({"rank_program": "-h"})",
                                     R"({"rank_program": "/opt/a b"})",
                                     R"({"rank_program": "/x;id"})",
                                     R"({"connect_timeout_s": 0})",
                                     R"({"agents": ["ssh"]})"}) {
    CAPTURE(settings);
    CHECK_THROWS_WITH(with_mpirun(settings), Contains("/mpirun"));
  }
}

TEST_CASE("an inventory survives its JSON, which the schema allows") {
  const Inventory inventory = inventory_from(R"({
    "hosts": [{"name": "n[9-11],n09", "slots": 2, "address": "u@{name}", "labels": {"rack": "r"}},
              {"name": "z", "slots": 1, "devices": ["cuda:1"], "profile": "p"}],
    "groups": {"g": "z,n[09,9-10]"},
    "mpirun": {"agent": ["ssh", "-p", "22"], "agent_options": false, "keepalive_s": 7,
               "keepalive_count": 9, "connect_timeout_s": 2, "interfaces": "lo", "mca": {"a": "b"},
               "env": {"A": "b"}, "rank_program": "/r", "cuda_rank_program": "/c"}})");
  const Json json = to_json(inventory);
  const Inventory back = inventory_from_json(json, "plan.json");
  CHECK(to_json(back) == json);
  CHECK(back.launch == inventory.launch);
  CHECK(back.groups[0].hosts == std::vector<std::size_t>{0, 1, 3, 4});
  CHECK(back.hosts[0].address == "u@n9");
  CHECK(Schema::load(schema_path("hosts")).check(json, "json") == json);
  const Json here = to_json(this_host_only());
  CHECK(to_json(inventory_from_json(here, "plan.json")) == here);
}

TEST_CASE("a list of 4000 hosts is read") {
  const Json json = {
      {"hosts", {{{"name", "rack[1-40]-n[001-100]"}, {"slots", 96}, {"labels", {{"a", "b"}}}}}},
      {"groups", {{"all", "rack[1-40]-n[001-100]"}}}};
  CHECK(inventory_from_json(json, "h.json").hosts.size() == 4000);
}

TEST_CASE("hosts with equal values of a label are a group") {
  const Inventory inventory =
      inventory_from(R"({"hosts": [{"name": "a", "slots": 1, "labels": {"rack": "2"}},
    {"name": "b", "slots": 1, "labels": {"rack": "1", "room": "x"}}, {"name": "c", "slots": 1},
    {"name": "d", "slots": 1, "labels": {"rack": "2"}}]})");
  const auto groups = groups_by_label(inventory, "rack");
  REQUIRE(groups.size() == 2);
  CHECK(groups[1].name == "2");
  CHECK(groups[1].hosts == std::vector<std::size_t>{0, 3});
  CHECK(groups_by_label(inventory, "row").empty());
  CHECK(label_names(inventory) == std::vector<std::string>{"rack", "room"});
}
