#include <set>

#include "core/error.h"
#include "core/job.h"
#include "runner/plan/plan_json.h"
#include "runner/plan/planner.h"
#include "runner/plan/scopes.h"
#include "tests/runner/test_catalogue.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Json numbered(const std::string& name, int count) {
  Json names = Json::array();
  for (int i = 0; i < count; ++i) names.push_back(name + std::to_string(i));
  return names;
}

/// Four hosts with eight GPUs and eight cards each.
Json pod() {
  return {{"hosts",
           {{{"name", "n[1-4]"},
             {"slots", 2},
             {"devices", numbered("cuda:", 8)},
             {"cards", numbered("mlx5_", 8)}}}}};
}

ProbeCatalogue catalogue() {
  return ProbeCatalogue({probe_entry(Json::parse(R"({
    "title": "ring", "description": "x", "devices": ["host", "cuda"],
    "metrics": {"busbw": {"unit": "B/s", "better": "higher"}}, "type": "object",
    "properties": {
      "isolation": {"type": "string", "enum": ["none", "network"], "default": "none", "process": true},
      "network_card": {"type": "string", "default": "", "process": true}}})"),
                                     "ring.json"),
                         probe_entry(Json::parse(R"({
    "title": "train", "description": "x", "devices": ["host", "cuda"],
    "metrics": {"rate": {"unit": "B/s", "better": "higher"}}, "type": "object", "properties": {}})"),
                                     "train.json")});
}

Plan plan(const std::string& one_case, const Json& hosts) {
  const Suite suite =
      suite_from_text(R"({"suite": "s", "cases": [)" + one_case + "]}", "s.json", catalogue());
  LaunchSite site{LauncherKind::automatic, "/x/bench-rank", "/x/bench-rank-cuda", "/usr/bin/mpirun",
                  false};
  return make_plan(suite, inventory_from_json(hosts, "h.json"), catalogue(), site);
}

const std::string kDevices =
    R"({"name": "a", "probe": "ring", "device": "cuda", "scope": "device"})";
const std::string kRails = R"({"name": "a", "probe": "ring", "device": "cuda", "scope": "rail"})";

}  // namespace

TEST_CASE("the scope device makes a job for each of 8 GPUs of 4 hosts, and passes it to its rank") {
  const Plan result = plan(kDevices, pod());
  REQUIRE(result.entries.size() == 32);
  std::set<std::pair<std::string, std::string>> seen;
  for (const PlanEntry& entry : result.entries) {
    CHECK(entry.skip.empty());
    REQUIRE(entry.job.hosts.size() == 1);
    CHECK(entry.job.ranks == 1);
    const std::string device = entry.job.part.at("device");
    CHECK(entry.job.env.at(kDeviceVariable) == device);
    CHECK(seen.emplace(entry.job.hosts[0], device).second);
  }
  CHECK(seen.contains({"n4", "cuda:7"}));
  // The first GPU of each host comes before the second of any: all hosts can work at once.
  CHECK(result.entries[3].job.hosts == std::vector<std::string>{"n4"});
  CHECK(result.entries[3].job.part == Json{{"device", "cuda:0"}});
  CHECK(launch_key(result.entries[0].job) != launch_key(result.entries[4].job));
}

TEST_CASE("the scope rail joins card i of 4 hosts, and isolates NCCL to it") {
  const Plan result = plan(kRails, pod());
  REQUIRE(result.entries.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    const Job& job = result.entries[i].job;
    const std::string card = "mlx5_" + std::to_string(i);
    CHECK(job.hosts.size() == 4);
    CHECK(job.part == Json{{"rail", i}, {"card", card}});
    CHECK(job.env.at(kCardsVariable) == card);
    CHECK(job.params == Json{{"isolation", "network"}, {"network_card", card}});
    CHECK(job.env.at("BENCH_PARAM_network_card") == card);
    CHECK(job.env.at("BENCH_PARAM_isolation") == "network");
  }
}

TEST_CASE("cards with different names are passed per host") {
  const Json hosts = Json::parse(R"({"hosts": [
    {"name": "n1", "slots": 1, "cards": ["mlx5_0", "mlx5_1"]},
    {"name": "n2", "slots": 1, "cards": ["mlx5_0", "mlx5_4"]}]})");
  const Plan result = plan(kRails, hosts);
  REQUIRE(result.entries.size() == 2);
  CHECK(result.entries[0].job.env.at(kCardsVariable) == "mlx5_0");
  const Job& second = result.entries[1].job;
  CHECK(second.env.at(kCardsVariable) == "n1=mlx5_1,n2=mlx5_4");
  CHECK(second.part == Json{{"rail", 1}});
  CHECK(second.params == Json{{"isolation", "network"}, {"network_card", ""}});
}

TEST_CASE("a rail of hosts that measure by MPI leaves NCCL's parameters alone") {
  const Plan result = plan(R"({"name": "a", "probe": "ring", "scope": "rail"})", pod());
  CHECK(result.entries[2].job.params == Json{{"isolation", "none"}, {"network_card", ""}});
  CHECK(result.entries[2].job.env.at(kCardsVariable) == "mlx5_2");
}

TEST_CASE("a host without cards, or with another number of them, is refused by name") {
  Json hosts = pod();
  hosts["hosts"].push_back({{"name", "spare"}, {"slots", 2}});
  CHECK_THROWS_WITH(plan(kRails, hosts), Contains("'spare'") && Contains("no network card"));
  hosts["hosts"][1]["cards"] = {"mlx5_0"};
  CHECK_THROWS_WITH(plan(kRails, hosts), Contains("n1 has 8") && Contains("spare has 1"));
}

TEST_CASE("names of devices and cards that would mean something to a shell are refused") {
  for (const char* bad : {"a b", "$(x)", "-x", "a;b", "a,b", "a=b", "../x", ""}) {
    Json hosts = pod();
    hosts["hosts"][0]["cards"][3] = bad;
    CHECK_THROWS_AS(inventory_from_json(hosts, "h.json"), Error);
    hosts = pod();
    hosts["hosts"][0]["devices"][3] = bad;
    CHECK_THROWS_AS(inventory_from_json(hosts, "h.json"), Error);
  }
}

TEST_CASE("unlisted GPUs come from an earlier run, else the job is skipped") {
  Inventory inventory = inventory_from_json({{"hosts", {{{"name", "n[1-2]"}, {"slots", 2}}}}}, "h");
  inventory.hosts[0].facts = {{"gpus", "2"}};
  const auto sets = device_sets(inventory, "cuda", false);
  REQUIRE(sets.size() == 3);
  CHECK(sets[0].part == Json{{"device", "cuda:0"}});
  CHECK_THAT(sets[1].obstacle, Contains("no GPUs known on n2"));
  CHECK(sets[2].part == Json{{"device", "cuda:1"}});
  const Plan result = plan(kDevices, {{"hosts", {{{"name", "n1"}, {"slots", 2}}}}});
  REQUIRE(result.entries.size() == 1);
  CHECK_THAT(result.entries[0].skip, Contains("no GPUs known on n1"));
}

TEST_CASE(
    "on a host's own cores the device is its CPU, or each NUMA node where the suite says so") {
  const Json hosts = Json::parse(R"({"hosts": [{"name": "n1", "slots": 2},
      {"name": "n2", "slots": 2, "devices": ["cuda:0", "numa:0", "numa:8"]}]})");
  const Plan whole = plan(R"({"name": "a", "probe": "ring", "scope": "device"})", hosts);
  REQUIRE(whole.entries.size() == 2);
  CHECK(whole.entries[0].job.part == Json{{"device", "cpu"}});
  CHECK_FALSE(whole.entries[0].job.env.contains(kDeviceVariable));
  const Plan nodes = plan(R"({"name": "a", "probe": "ring", "scope": {"device": "numa"}})", hosts);
  REQUIRE(nodes.entries.size() == 3);
  CHECK_THAT(nodes.entries[0].skip, Contains("no NUMA nodes known on n1"));
  CHECK(nodes.entries[2].job.env.at(kDeviceVariable) == "numa:8");
}

TEST_CASE("on GPUs a rail is for probes that keep to its card") {
  CHECK_THROWS_WITH(
      plan(R"({"name": "a", "probe": "train", "device": "cuda", "scope": "rail"})", pod()),
      Contains("train cannot be restricted to one network card"));
  CHECK_NOTHROW(plan(R"({"name": "a", "probe": "train", "scope": "rail"})", pod()));
}

TEST_CASE("several ranks on one GPU, and a card together with a rail, are refused in the suite") {
  CHECK_THROWS_WITH(plan(R"({"name": "a", "probe": "ring", "device": "cuda", "scope": "device",
                             "ranks_per_host": 2})",
                         pod()),
                    Contains("ranks_per_host"));
  CHECK_THROWS_WITH(plan(R"({"name": "a", "probe": "ring", "scope": "rail",
                             "params": {"network_card": "eth0"}})",
                         pod()),
                    Contains("network card"));
}

TEST_CASE("a plan of devices and rails survives a round trip") {
  for (const std::string& one : {kDevices, kRails}) {
    const Plan before = plan(one, pod());
    const Plan after = plan_from_json(parse_json(plan_text(before), "plan.json"), "plan.json");
    REQUIRE(after.entries.size() == before.entries.size());
    for (std::size_t i = 0; i < before.entries.size(); ++i)
      CHECK(to_json(after.entries[i].job) == to_json(before.entries[i].job));
    CHECK(to_json(after.inventory) == to_json(before.inventory));
  }
}
