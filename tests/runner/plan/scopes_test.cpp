#include "runner/plan/scopes.h"

#include <set>

#include "core/error.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Inventory some_hosts(int count) {
  return inventory_from_json(
      {{"hosts", {{{"name", "n[1-" + std::to_string(count) + "]"}, {"slots", 2}}}}}, "h.json");
}

Inventory racks() {
  return inventory_from_json(Json::parse(R"({
    "hosts": [{"name": "a[1-3]", "slots": 1, "labels": {"rack": "r2"}},
              {"name": "b[1-2]", "slots": 1, "labels": {"rack": "r1"}},
              {"name": "login", "slots": 1}],
    "groups": {"ends": "login,a1", "bs": "b[1-2]"}})"),
                             "h.json");
}

using Places = std::vector<std::size_t>;

}  // namespace

TEST_CASE("the scope host gives each host by itself, all at once") {
  const auto sets = host_sets({ScopeKind::host}, some_hosts(3));
  REQUIRE(sets.size() == 3);
  CHECK(sets[2].hosts == Places{2});
  CHECK(sets[2].label == "n3");
  CHECK(sets[2].round == 0);
}

TEST_CASE("in a tournament each pair meets once, and no host twice in a round") {
  for (const int count : {2, 3, 4, 5, 6, 7, 12, 33, 64}) {
    const auto sets = host_sets({ScopeKind::pair}, some_hosts(count));
    const int rounds = count % 2 == 0 ? count - 1 : count;
    std::set<Places> met;
    std::set<std::pair<int, std::size_t>> busy;
    int last = 0;
    for (const HostSet& set : sets) {
      REQUIRE(set.hosts.size() == 2);
      CHECK(set.hosts[0] < set.hosts[1]);
      CHECK(set.hosts[1] < static_cast<std::size_t>(count));
      CHECK(met.insert(set.hosts).second);
      for (const std::size_t host : set.hosts) CHECK(busy.insert({set.round, host}).second);
      CHECK(set.round >= last);
      last = set.round;
    }
    CHECK(met.size() == static_cast<std::size_t>(count * (count - 1) / 2));
    CHECK(last == rounds - 1);
  }
}

TEST_CASE("a pair is named by both hosts, and one host has no pair") {
  const auto sets = host_sets({ScopeKind::pair}, some_hosts(2));
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].label == "n1,n2");
  CHECK(host_sets({ScopeKind::pair}, some_hosts(1)).empty());
}

TEST_CASE("a tournament of 512 hosts is made, one of 4000 is refused") {
  const Inventory inventory = some_hosts(512);
  const auto sets = host_sets({ScopeKind::pair}, inventory);
  CHECK(sets.size() == 512 * 511 / 2);
  CHECK(sets.back().round == 510);
  CHECK_THROWS_WITH(host_sets({ScopeKind::pair}, some_hosts(4000)),
                    Contains("4000 hosts") && Contains("1000000"));
}

TEST_CASE("a ladder doubles the first hosts, and ends with all of them") {
  const auto sizes = [](int count) {
    std::vector<std::size_t> result;
    for (const HostSet& set : host_sets({ScopeKind::ladder}, some_hosts(count)))
      result.push_back(set.hosts.size());
    return result;
  };
  CHECK(sizes(1) == Places{1});
  CHECK(sizes(4) == Places{1, 2, 4});
  CHECK(sizes(6) == Places{1, 2, 4, 6});
  const auto sets = host_sets({ScopeKind::ladder}, some_hosts(6));
  CHECK(sets[1].hosts == Places{0, 1});
  CHECK(sets[3].hosts == Places{0, 1, 2, 3, 4, 5});
  CHECK(sets[3].label == "6");
  CHECK(sets[3].round == 3);  // they share hosts
}

TEST_CASE("the scope all is one set") {
  const auto sets = host_sets({ScopeKind::all}, some_hosts(3));
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].hosts == Places{0, 1, 2});
}

TEST_CASE("groups come from the hosts file or from a label") {
  const auto stated = host_sets({ScopeKind::group}, racks());
  REQUIRE(stated.size() == 2);
  CHECK(stated[0].label == "bs");
  CHECK(stated[0].hosts == Places{3, 4});
  CHECK(stated[1].hosts == Places{0, 5});
  CHECK(stated[1].round == 0);
  const auto by_label = host_sets({ScopeKind::group, "rack"}, racks());
  REQUIRE(by_label.size() == 2);
  CHECK(by_label[0].label == "r1");
  CHECK(by_label[0].hosts == Places{3, 4});
  CHECK(by_label[1].hosts == Places{0, 1, 2});
}

TEST_CASE("groups that share a host are in rounds of their own") {
  Inventory inventory = racks();
  inventory.groups.push_back({"more", {0, 1}});
  const auto sets = host_sets({ScopeKind::group}, inventory);
  CHECK(sets[0].round == 0);
  CHECK(sets[1].round == 1);
  CHECK(sets[2].round == 2);
}

TEST_CASE("a scope with unknown groups lists the labels") {
  CHECK_THROWS_WITH(host_sets({ScopeKind::group}, some_hosts(2)), Contains("no groups"));
  CHECK_THROWS_WITH(host_sets({ScopeKind::group, "rak"}, racks()),
                    Contains("'rak'") && Contains("Did you mean 'rack'?"));
}

TEST_CASE("a scope survives its JSON") {
  for (const Scope& scope :
       {Scope{}, Scope{ScopeKind::pair}, Scope{ScopeKind::group}, Scope{ScopeKind::all},
        Scope{ScopeKind::ladder}, Scope{ScopeKind::group, "rack"}})
    CHECK(scope_from_json(to_json(scope)) == scope);
  CHECK(to_json(Scope{ScopeKind::ladder}) == "ladder");
  CHECK(to_json(Scope{ScopeKind::group, "rack"}) == Json{{"group", "rack"}});
  CHECK(to_string(Scope{ScopeKind::group, "rack"}) == "group by rack");
}

TEST_CASE("an unknown scope is refused with a suggestion") {
  const auto wrong = [](const char* text) { return scope_from_json(Json::parse(text)); };
  CHECK_THROWS_WITH(wrong(R"("ladde")"), Contains("Did you mean 'ladder'?"));
  CHECK_THROWS_WITH(wrong(R"({"grup": "rack"})"), Contains("Did you mean 'group'?"));
  CHECK_THROWS_WITH(wrong(R"({"group": ""})"), Contains("not a label"));
  CHECK_THROWS_WITH(wrong(R"({"group": 3})"), Contains("not a label"));
  CHECK_THROWS_WITH(wrong("{}"), Contains("exactly one key"));
  CHECK_THROWS_WITH(wrong("3"), Contains("expected a string"));
}
