#include "core/schema.h"
#include "results/output/document/markdown.h"
#include "results/output/verdicts/topology_output.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"
#include "tests/support/topology_host.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

std::vector<HostTopology> fleet_of(std::size_t hosts, const std::string& profile = "") {
  std::vector<HostTopology> fleet;
  for (std::size_t i = 1; i <= hosts; ++i)
    fleet.push_back(TopologyHost().as("node0" + std::to_string(i), profile));
  return fleet;
}

TopologyHost with_setting(const std::string& thp) {
  TopologyHost host;
  host.facts["settings"]["thp"] = thp;
  return host;
}

}  // namespace

TEST_CASE("the one host of five that differs is named with its difference") {
  auto hosts = fleet_of(5);
  hosts[2] = TopologyHost().remove_gpu(1).as("node03");
  const FleetTopology fleet = compare_fleet(hosts, {});
  for (const HostFindings& host : fleet.hosts) {
    INFO(host.host);
    CHECK(host.match == (host.host == "node03" ? HostMatch::differs : HostMatch::same));
    CHECK(host.differences.size() == (host.host == "node03" ? 1 : 0));
  }
  const Difference& one = fleet.hosts[2].differences[0];
  CHECK(one.path == "gpu/10de:20b0/count");
  CHECK(one.against == "majority");
  CHECK(fleet.kinds.size() == 2);
  CHECK(fleet.kinds[0].hosts.size() == 4);
  CHECK(exit_code_of(fleet) == ExitCode::failed);
  CHECK_THAT(to_text(fleet, {false, false, 120}), Contains("node03  DIFFERS") &&
                                                      Contains("7, majority has 8") &&
                                                      Contains("as expected: node[01-02,04-05]"));
}

TEST_CASE("the topology in Markdown has kinds, differing hosts and differences") {
  auto hosts = fleet_of(5);
  hosts[2] = TopologyHost().remove_gpu(1).as("node03");
  const std::string text = to_markdown(to_document(compare_fleet(hosts, {})));
  CHECK_THAT(text, Contains("# Topology") && Contains("node03  **DIFFERS**"));
  CHECK_THAT(text, Contains("**missing**") && Contains("7, majority has 8"));
}

TEST_CASE("equal hosts pass") {
  const FleetTopology fleet = compare_fleet(fleet_of(3), {});
  CHECK(exit_code_of(fleet) == ExitCode::ok);
  CHECK(fleet.kinds.size() == 1);
  CHECK(fleet.no_majority.empty());
}

TEST_CASE("two differing hosts are undecided") {
  auto hosts = fleet_of(2);
  hosts[1] = with_setting("never").as("node02");
  const FleetTopology fleet = compare_fleet(hosts, {});
  REQUIRE(fleet.undecided.size() == 1);
  CHECK(fleet.undecided[0].path == "setting/thp");
  CHECK(fleet.hosts[0].differences.empty());
  CHECK(fleet.hosts[1].differences.empty());
  REQUIRE(fleet.no_majority.size() == 1);
  CHECK_THAT(fleet.no_majority[0], Contains("2 hosts") && Contains("at least 3 hosts"));
  CHECK(exit_code_of(fleet) == ExitCode::not_measured);
}

TEST_CASE("three against two is a majority, two against two is not") {
  auto hosts = fleet_of(4);
  hosts[2] = with_setting("never").as("node03");
  hosts[3] = with_setting("never").as("node04");
  CHECK(compare_fleet(hosts, {}).undecided.size() == 1);
  hosts.push_back(TopologyHost().as("node05"));
  const FleetTopology fleet = compare_fleet(hosts, {});
  CHECK(fleet.undecided.empty());
  CHECK(fleet.hosts[3].differences.at(0).alike == 1);
}

TEST_CASE("a single host is reported as not compared") {
  const FleetTopology fleet = compare_fleet(fleet_of(1), {});
  CHECK_FALSE(fleet.hosts[0].compared);
  CHECK(exit_code_of(fleet) == ExitCode::ok);
  CHECK_THAT(to_text(fleet, {}), Contains("not compared: node01"));
}

TEST_CASE("hosts with different profiles are not compared with each other") {
  auto hosts = fleet_of(3, "gpu");
  for (int i = 4; i <= 6; ++i) {
    TopologyHost other = with_setting("never");
    for (int gpu = 0; gpu < 8; ++gpu) other.remove_gpu(gpu);
    hosts.push_back(other.as("node0" + std::to_string(i), "cpu"));
  }
  CHECK(exit_code_of(compare_fleet(hosts, {})) == ExitCode::ok);
}

TEST_CASE("a profile rule takes precedence over the majority") {
  const Json json = {{"profile", "p"},
                     {"expect", {{"setting/thp", {{"is", "never"}, {"note", "ours"}}}}}};
  auto hosts = fleet_of(3, "p");
  hosts[0] = with_setting("never").as("node01", "p");
  const FleetTopology fleet = compare_fleet(hosts, {{"p", profile_from_json(json, "test")}});
  CHECK(fleet.hosts[0].match == HostMatch::same);
  REQUIRE(fleet.hosts[1].differences.size() == 1);
  CHECK(fleet.hosts[1].differences[0].against == "profile");
  CHECK(fleet.hosts[1].differences[0].note == "ours");
}

TEST_CASE("a host that could not be probed is unknown, with the reason, and has no vote") {
  auto hosts = fleet_of(4);
  hosts[3] = {"node04"};
  hosts[3].probed = false;
  hosts[3].trouble = "failed: does not answer";
  const FleetTopology fleet = compare_fleet(hosts, {});
  CHECK(fleet.hosts[3].match == HostMatch::unknown);
  CHECK(fleet.hosts[0].match == HostMatch::same);
  CHECK(exit_code_of(fleet) == ExitCode::not_measured);
  CHECK_THAT(to_text(fleet, {}), Contains("node04  UNKNOWN") && Contains("does not answer"));
}

TEST_CASE("a value unreadable on one host makes it unknown, not different") {
  auto hosts = fleet_of(3);
  TopologyHost blind;
  blind.facts["memory_modules"] = "unreadable: root only";
  hosts[1] = blind.as("node02");
  const FleetTopology fleet = compare_fleet(hosts, {});
  CHECK(fleet.hosts[1].match == HostMatch::unknown);
  CHECK(fleet.hosts[1].differences.at(0).severity == Severity::unreadable);
  CHECK_THAT(to_text(fleet, {}), Contains("Unreadable\n") && Contains("root only"));
}

TEST_CASE("the JSON of a fleet topology matches its schema") {
  auto hosts = fleet_of(5);
  hosts[1] = with_setting("never").as("node02");
  hosts[2] = TopologyHost().remove_gpu(1).as("node03");
  const Json json = to_json(compare_fleet(hosts, {}), "20261120T183005Z-topology-0001");
  CHECK_NOTHROW(Schema::load("schemas/topology.json").check(json, "topology"));
  CHECK(json["hosts"][2]["differences"][0]["severity"] == "missing");
  const auto split = std::vector<HostTopology>(hosts.begin(), hosts.begin() + 2);
  CHECK_NOTHROW(
      Schema::load("schemas/topology.json").check(to_json(compare_fleet(split, {}), ""), "two"));
}

TEST_CASE("control characters from a host do not reach the terminal") {
  auto hosts = fleet_of(3);
  hosts[1] = with_setting("\x1b[2Jgone").as("node02");
  const std::string text = to_text(compare_fleet(hosts, {}), {false, false, 120});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_THAT(text, Contains("gone"));
}

TEST_CASE("a run yields facts for each host of its plan, or the reason for none") {
  RunFixture run;
  run.job("j1", "topology", "topology").job("j2", "topology", "topology");
  run.plan["jobs"][1]["hosts"] = {"node2"};
  run.add("j1", Facts{"topology", TopologyHost().facts}).outcome("j1");
  run.outcome("j2", Status::failed, "does not answer");
  const auto hosts = topologies_of(run.records());
  REQUIRE(hosts.size() == 2);
  CHECK(hosts[0].probed);
  CHECK(hosts[0].trouble.empty());
  CHECK(value_at(hosts[0].shape, "gpu/10de:20b0/count") == 8);
  CHECK_FALSE(hosts[1].probed);
  CHECK(hosts[1].trouble == "failed: does not answer");
}

TEST_CASE("a host whose kernel and library disagree always differs") {
  auto hosts = fleet_of(3);
  hosts[0].invalid = true;
  hosts[0].trouble = "invalid: hwloc 3 vs. kernel 4";
  CHECK(compare_fleet(hosts, {}).hosts[0].match == HostMatch::differs);
}
