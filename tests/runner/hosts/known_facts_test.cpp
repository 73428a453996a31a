#include "runner/hosts/known_facts.h"

#include "core/error.h"
#include "runner/plan/scopes.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Json gpu(const std::string& cluster, int clique) {
  return {{"name", "NVIDIA GB200"},
          {"fabric", {{"state", "completed"}, {"cluster", cluster}, {"clique", clique}}}};
}

std::map<std::string, std::string> words(const std::vector<Json>& gpus) {
  return words_of_facts({{"gpus", {{"gpus", gpus}}}});
}

Inventory four_known_hosts() {
  Inventory inventory = inventory_from_json(
      Json::parse(R"({"hosts": [{"name": "n[1-4]", "slots": 1, "labels": {"rack": "r1"}}]})"), "h");
  for (std::size_t i = 0; i < 3; ++i) inventory.hosts[i].facts["nvlink_domain"] = i < 2 ? "a" : "b";
  return inventory;
}

using Places = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a host's NVLink domain is the cluster and clique that all its GPUs are in") {
  const auto known = words({gpu("00ab", 7), gpu("00ab", 7)});
  CHECK(known.at("nvlink_domain") == "00ab.7");
  CHECK(known.at("gpus") == "2");
  CHECK(known.at("gpu") == "NVIDIA GB200");
  CHECK_FALSE(words({gpu("00ab", 7), gpu("00ab", 8)}).contains("nvlink_domain"));
  CHECK_FALSE(words({gpu("0000", 0)}).contains("nvlink_domain"));
  Json joining = gpu("00ab", 7);
  joining["fabric"]["state"] = "in progress";
  CHECK_FALSE(words({joining}).contains("nvlink_domain"));
  CHECK(words({}).empty());
}

TEST_CASE("hosts can be grouped by string and number facts, not by unreadable ones") {
  const auto known = words_of_facts({{"host", Json::parse(R"({"kernel": "6.1", "numa_nodes": 2,
      "product": "unreadable", "warnings": ["x"], "infiniband": ["mlx5_0", "mlx5_10", "mlx5_2"]})")}});
  CHECK(known == std::map<std::string, std::string>{
                     {"cards", "mlx5_0,mlx5_2,mlx5_10"}, {"kernel", "6.1"}, {"numa_nodes", "2"}});
}

TEST_CASE("hosts with equal facts run together; a host without the fact uses its label") {
  Inventory inventory = four_known_hosts();
  inventory.hosts[3].labels["nvlink_domain"] = "b";
  const auto sets = host_sets({ScopeKind::group, "nvlink_domain", true}, inventory);
  REQUIRE(sets.size() == 2);
  CHECK(sets[0].hosts == Places{0, 1});
  CHECK(sets[1].hosts == Places{2, 3});
  CHECK(host_sets({ScopeKind::group, "rack", true}, inventory).size() == 1);
}

TEST_CASE("an unknown fact is refused with the list of known ones") {
  CHECK_THROWS_WITH(host_sets({ScopeKind::group, "nvlink_domian", true}, four_known_hosts()),
                    Contains("'nvlink_domian'") && Contains("Did you mean 'nvlink_domain'?"));
}

TEST_CASE("the scopes with a value are read, and written as they were read") {
  for (const char* text : {R"("device")", R"("rail")", R"({"device":"numa"})",
                           R"({"group":{"fact":"nvlink_domain"}})", R"({"group":"rack"})"})
    CHECK(dump(to_json(scope_from_json(Json::parse(text)))) == text);
  for (const char* text : {R"({"device":"gpu"})", R"({"group":{"fact":""}})", R"({"rail":1})", "{}",
                           R"({"group":{"fact":"a","b":1}})", R"({"group":"a","device":"numa"})"})
    CHECK_THROWS_AS(scope_from_json(Json::parse(text)), Error);
}
