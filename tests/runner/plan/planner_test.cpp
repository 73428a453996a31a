#include "runner/plan/planner.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "runner/plan/plan_json.h"
#include "tests/runner/test_catalogue.h"
#include "tests/support/catch.h"
#include "tests/support/run_tests.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

const LaunchSite kSite{LauncherKind::automatic, "/x/bench-rank", "", "/usr/bin/mpirun", false};

Inventory one_host(int slots = 4) {
  return {{{this_host_name(), this_host_name(), slots, Json(), {}}}};
}

Plan plan(const std::string& cases, const Inventory& inventory = one_host(),
          const LaunchSite& site = kSite) {
  const auto catalogue = test_catalogue();
  const Suite suite =
      suite_from_text(R"({"suite": "s", "measure": {"min_clean": 7, "max_samples": 9},
      "cases": [)" + cases +
                          "]}",
                      "s.json", catalogue);
  return make_plan(suite, inventory, catalogue, site);
}

std::vector<std::string> ids(const Plan& plan) {
  std::vector<std::string> result;
  for (const PlanEntry& entry : plan.entries) result.push_back(entry.job.id);
  return result;
}

}  // namespace

TEST_CASE("axes expand to their product, in the order of their names, and as a whole again") {
  const Plan result = plan(R"({"name": "a", "probe": "gemm", "repeat": 2,
      "axes": {"dtype": ["f32", "f64"], "cores": [1, 2]}})");
  std::vector<std::string> seen;
  for (const PlanEntry& entry : result.entries)
    seen.push_back(
        dump(Json{entry.job.params["cores"], entry.job.params["dtype"], entry.job.repeat}));
  CHECK(seen == std::vector<std::string>{R"([1,"f32",0])", R"([1,"f64",0])", R"([2,"f32",0])",
                                         R"([2,"f64",0])", R"([1,"f32",1])", R"([1,"f64",1])",
                                         R"([2,"f32",1])", R"([2,"f64",1])"});
}

TEST_CASE("a job's id is the number of its case, its name, and which of several it is") {
  const Plan result =
      plan(R"({"name": "a", "probe": "peak"}, {"name": "b.c", "probe": "gemm", "repeat": 10})");
  CHECK(result.entries.size() == 11);
  CHECK(ids(result)[0] == "01.a");
  CHECK(ids(result)[1] == "02.b.c.01");
  CHECK(ids(result)[10] == "02.b.c.10");
}

TEST_CASE("a list in params stays one job, and defaults are filled in") {
  const Plan result = plan(R"({"name": "a", "probe": "gemm", "params": {"sizes": [1, 2, 3]}})");
  REQUIRE(result.entries.size() == 1);
  CHECK(result.entries[0].job.params == Json{{"cores", 1}, {"dtype", "f32"}, {"sizes", {1, 2, 3}}});
}

TEST_CASE("a case's measure settings win over the suite's, those over the rules") {
  const Plan result = plan(R"({"name": "a", "probe": "peak", "measure": {"max_samples": 11}})");
  const MeasureSettings& measure = result.entries[0].job.measure;
  CHECK(measure.min_clean == 7);
  CHECK(measure.max_samples == 11);
  CHECK(measure.max_time_s == MeasureSettings{}.max_time_s);
}

TEST_CASE("telemetry is off unless asked for, and a case's wish wins over the suite's") {
  CHECK_FALSE(plan(R"({"name": "a", "probe": "peak"})").entries[0].job.telemetry.enabled);
  const auto catalogue = test_catalogue();
  const Suite suite = suite_from_text(
      R"({"suite": "s", "telemetry": {"enabled": true, "period_s": 0.5}, "cases": [
          {"name": "a", "probe": "peak"},
          {"name": "b", "probe": "peak", "telemetry": {"enabled": false}}]})",
      "s.json", catalogue);
  const Plan result = make_plan(suite, one_host(), catalogue, kSite);
  REQUIRE(result.entries.size() == 2);
  CHECK(result.entries[0].job.telemetry.enabled);
  CHECK(result.entries[0].job.telemetry.period_s == 0.5);
  CHECK_FALSE(result.entries[1].job.telemetry.enabled);
  CHECK(result.entries[1].job.telemetry.period_s == 0.5);
}

TEST_CASE("slots means one rank for each slot of the host") {
  const Plan result =
      plan(R"({"name": "a", "probe": "peak", "ranks_per_host": "slots"})", one_host(6));
  CHECK(result.entries[0].job.ranks == 6);
}

TEST_CASE("ranks and binding as axes make jobs of their own") {
  const Plan result =
      plan(R"({"name": "a", "probe": "peak", "axes": {"ranks_per_host": [2, "slots"]}})");
  REQUIRE(result.entries.size() == 2);
  CHECK(result.entries[0].job.ranks == 2);
  CHECK(result.entries[1].job.ranks == 4);
  CHECK(result.entries[1].job.params == Json{{"threads", 1}});
}

TEST_CASE("ranks are pinned only when there are several and a CPU for each") {
  const auto binding = [](int ranks) {
    return plan(R"({"name": "a", "probe": "peak", "ranks_per_host": )" + std::to_string(ranks) +
                "}")
        .entries[0]
        .job.binding;
  };
  CHECK(binding(1) == "none");
  CHECK(binding(4) == "core");
  CHECK(binding(5) == "none");
}

// How long that takes: scripts/evidence cluster_scale.
TEST_CASE("all pairs of 512 hosts are planned, each with its own places") {
  const std::size_t kHosts = code_is_sanitized() ? 64 : 512;
  Inventory inventory;
  for (std::size_t i = 0; i < kHosts; ++i)
    inventory.hosts.push_back({"n" + std::to_string(i), "n" + std::to_string(i), 4, Json(), {}});
  const Plan result = plan(
      R"({"name": "a", "probe": "peak", "scope": "pair", "axes": {"ranks_per_host": ["slots"]}})",
      inventory);
  REQUIRE(result.entries.size() == kHosts * (kHosts - 1) / 2);
  double seconds = 0.0;
  for (const PlanEntry& entry : result.entries) {
    seconds += entry.expected.value;
    if (entry.job.ranks != 8 || entry.places.size() != 2 ||
        entry.places[1].host != entry.job.hosts[1] || entry.job.binding != "core")
      FAIL(entry.job.id);
  }
  CHECK(result.expected.value == Approx(seconds));
}

TEST_CASE("a job's last duration depends on its ranks, not on its hosts") {
  const auto catalogue = test_catalogue();
  const Suite suite = suite_from_text(
      R"({"suite": "s", "cases": [{"name": "a", "probe": "peak", "scope": "ladder"}]})", "s.json",
      catalogue);
  Inventory inventory;
  for (const char* name : {"n1", "n2"}) inventory.hosts.push_back({name, name, 4, Json(), {}});
  const Plan guessed = make_plan(suite, inventory, catalogue, kSite);
  const Durations last = {{duration_key(guessed.entries[1].job), Seconds{7.0}}};
  const Plan known = make_plan(suite, inventory, catalogue, kSite, last);
  REQUIRE(known.entries.size() == 2);
  CHECK(known.entries[0].expected.value == guessed.entries[0].expected.value);
  CHECK(known.entries[1].expected.value == 7.0);
}

TEST_CASE("a cuda job without a CUDA build is a planned skip") {
  const Plan result =
      plan(R"({"name": "a", "probe": "gemm", "device": "cuda"}, {"name": "b", "probe": "peak"})");
  CHECK_THAT(result.entries[0].skip, Contains("no CUDA build"));
  CHECK(result.entries[1].skip.empty());
  CHECK(result.entries[0].expected.value == 0.0);
}

TEST_CASE("without mpirun a job of several ranks is skipped with the package to install") {
  LaunchSite site = kSite;
  site.mpirun.clear();
  const Plan result =
      plan(R"({"name": "a", "probe": "peak", "ranks_per_host": 2}, {"name": "b", "probe": "peak"})",
           one_host(), site);
  CHECK_THAT(result.entries[0].skip, Contains("mpirun") && Contains("openmpi-bin"));
  CHECK(result.entries[1].skip.empty());
}

namespace {

Inventory four_hosts() {
  Inventory inventory;
  for (const char* name : {"n1", "n2", "n3", "n4"})
    inventory.hosts.push_back(
        {.name = name, .address = name, .slots = 2, .devices = {}, .labels = {}});
  return inventory;
}

}  // namespace

TEST_CASE("a remote host needs mpirun, and is skipped without it") {
  LaunchSite bare = kSite;
  bare.mpirun.clear();
  const std::string one = R"({"name": "a", "probe": "peak"})";
  for (const PlanEntry& entry : plan(one, four_hosts()).entries) CHECK(entry.skip.empty());
  for (const PlanEntry& entry : plan(one, four_hosts(), bare).entries)
    CHECK_THAT(entry.skip, Contains("openmpi-bin"));
}

TEST_CASE("every pair of hosts runs once before any runs again") {
  const Plan result =
      plan(R"({"name": "a", "probe": "peak", "scope": "pair", "repeat": 3})", four_hosts());
  constexpr std::size_t kPairs = 6;
  REQUIRE(result.entries.size() == 3 * kPairs);
  std::set<std::vector<std::string>> pairs;
  for (std::size_t k = 0; k < result.entries.size(); ++k) {
    const Job& job = result.entries[k].job;
    CHECK(job.repeat == static_cast<int>(k / kPairs));
    CHECK(job.seed == k / kPairs + 1);
    CHECK(job.hosts == result.entries[k % kPairs].job.hosts);
    pairs.insert(job.hosts);
  }
  CHECK(pairs.size() == kPairs);
}

TEST_CASE("an acceptance repeats the whole suite, so that repeats lie far apart") {
  Plan whole = plan(R"({"name": "a", "probe": "peak", "repeat": 2},
                       {"name": "b", "probe": "gemm", "repeat": 2})");
  const auto cases = [](const Plan& result) {
    std::string names;
    for (const PlanEntry& entry : result.entries) names += entry.job.case_name;
    return names;
  };
  CHECK(cases(whole) == "aabb");
  whole.suite.acceptance = {{"budget_s", 100}};
  CHECK(cases(make_plan(whole.suite, one_host(), test_catalogue(), kSite)) == "abab");
  whole.suite.acceptance["rounds"] = false;
  CHECK(cases(make_plan(whole.suite, one_host(), test_catalogue(), kSite)) == "aabb");
}

TEST_CASE("a scope of several hosts makes jobs with ranks on all of them") {
  const Plan pairs =
      plan(R"({"name": "a", "probe": "peak", "scope": "pair", "ranks_per_host": 2})", four_hosts());
  REQUIRE(pairs.entries.size() == 6);
  for (const PlanEntry& entry : pairs.entries) {
    CHECK(entry.job.hosts.size() == 2);
    CHECK(entry.job.ranks == 4);
    CHECK(entry.places[0].ranks == 2);
  }
  const Plan ladder =
      plan(R"({"name": "a", "probe": "peak", "scope": "ladder", "ranks_per_host": "slots"})",
           four_hosts());
  std::vector<int> ranks;
  for (const PlanEntry& entry : ladder.entries) ranks.push_back(entry.job.ranks);
  CHECK(ranks == std::vector<int>{2, 4, 8});
}

TEST_CASE("a plan read back from its JSON starts the same commands") {
  Inventory uneven = four_hosts();
  uneven.hosts[1].slots = 5;
  uneven.launch.interfaces = "10.0.0.0/8";
  const Plan first = plan(
      R"({"name": "a", "probe": "peak", "scope": "all", "ranks_per_host": "slots", "cooldown_s": 2},
         {"name": "b", "probe": "gemm", "device": "cuda"})",
      uneven);
  const Plan second = plan_from_json(parse_json(plan_text(first), "plan.json"), "plan.json");
  REQUIRE(second.entries.size() == first.entries.size());
  const auto sorted = [](std::vector<PlanEntry> entries) {
    std::ranges::sort(entries, {}, [](const PlanEntry& entry) { return entry.job.id; });
    return entries;
  };
  const auto before = sorted(first.entries), after = sorted(second.entries);
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(to_json(before[i].job) == to_json(after[i].job));
    CHECK(before[i].skip == after[i].skip);
    CHECK(before[i].cooldown.value == after[i].cooldown.value);
    CHECK(launch_command(before[i].job, before[i].places, kSite).argv ==
          launch_command(after[i].job, after[i].places, kSite).argv);
  }
  CHECK(to_json(second.inventory) == to_json(first.inventory));
  const Json text = parse_json(plan_text(first, {{"run", "r"}}), "plan.json");
  CHECK(text.at("run") == "r");
  const Json whole = parse_json(plan_text(first), "plan.json");
  for (const auto& [key, value] : whole.items()) CHECK(text.at(key) == value);
  CHECK(whole.at("jobs").size() + whole.at("skipped").size() == first.entries.size());
  CHECK_THROWS_AS(plan_from_json(Json::object(), "plan.json"), Error);
}

TEST_CASE("a damaged plan.json starts no other number of ranks, and no job twice") {
  Inventory uneven = four_hosts();
  uneven.hosts[1].slots = 5;
  const Json whole = parse_json(
      plan_text(plan(R"({"name": "a", "probe": "peak", "scope": "all", "ranks_per_host": "slots"})",
                     uneven)),
      "plan.json");
  const std::string id = whole.at("jobs").at(0).at("id");
  const Json ranks = whole.at("uneven").at(id);
  const auto refused = [&](const char* place, const Json& value) {
    INFO(dump(value));
    Json damaged = whole;
    damaged[Json::json_pointer(place)] = value;
    CHECK_THROWS_AS(plan_from_json(damaged, "plan.json"), Error);
  };
  CHECK_NOTHROW(plan_from_json(whole, "plan.json"));
  for (const Json& first :
       {Json(-1), Json(0), Json(1e300), Json("2"), Json(ranks[0] == 1 ? 2 : 1)}) {
    Json changed = ranks;
    changed[0] = first;
    refused("/uneven", {{id, changed}});
  }
  refused("/uneven", {{id, Json::array({ranks[0]})}});
  refused("/uneven", Json::object());
  refused("/jobs", Json::array({whole["jobs"][0], whole["jobs"][0]}));
}

TEST_CASE("axes that explode are refused, naming the case") {
  std::string many = "[1";
  for (int i = 2; i < 60; ++i) many += "," + std::to_string(i);
  many += "]";
  const std::string dtypes = R"(["f32")" + [] {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += R"(,"f32")";
    return text;
  }() + "]";
  CHECK_THROWS_WITH(plan(R"({"name": "a", "probe": "gemm", "axes": {"cores": )" + many +
                         R"(, "dtype": )" + dtypes + "}}"),
                    Contains("case 'a'"));
}

TEST_CASE("axes and repeats that explode together are refused too") {
  std::string values = "1";
  for (int i = 2; i <= 60; ++i) values += ", " + std::to_string(i);
  CHECK_THROWS_WITH(plan(R"({"name": "big", "probe": "gemm", "repeat": 10000,
      "axes": {"cores": [)" +
                         values + R"(], "dtype": ["f32", "f64"]}})"),
                    Contains("'big'"));
}

TEST_CASE("the plan's JSON has jobs, skips with reasons, and gates by case") {
  const Plan made = plan(R"({"name": "a", "probe": "gemm", "device": "cuda"},
      {"name": "b", "probe": "peak", "gates": [{"metric": "throughput", "min": 1}]})");
  const Json json = parse_json(plan_text(made), "plan.json");
  REQUIRE(json["jobs"].size() == 1);
  CHECK(json["jobs"][0]["id"] == "02.b");
  REQUIRE(json["skipped"].size() == 1);
  CHECK_THAT(json["skipped"][0]["reason"].get<std::string>(), Contains("CUDA"));
  CHECK(json["gates"]["b"][0]["min"] == 1);
  CHECK(json["digest"].get<std::string>().size() == 64);
}

TEST_CASE("a parameter that needs a separate process is passed in the job's environment") {
  const Json probe = Json::parse(R"({
    "title": "ring", "description": "x", "devices": ["host"],
    "metrics": {"latency": {"unit": "s", "better": "lower"}},
    "type": "object", "properties": {
      "paths": {"type": "string", "enum": ["all", "one"], "default": "all", "process": true},
      "count": {"type": "integer", "default": 1}}})");
  const ProbeCatalogue catalogue({probe_entry(probe, "ring.json")});
  const Suite suite = suite_from_text(R"({"suite": "s", "cases": [
      {"name": "a", "probe": "ring", "env": {"X": "1"}, "axes": {"paths": ["all", "one"], "count": [1, 2]}}]})",
                                      "s.json", catalogue);
  const Plan result = make_plan(suite, one_host(), catalogue, kSite);
  std::vector<std::string> keys;
  for (const PlanEntry& entry : result.entries) keys.push_back(launch_key(entry.job));
  REQUIRE(keys.size() == 4);  // count by count, and in each all and one
  CHECK(keys[0] == keys[2]);
  CHECK(keys[1] == keys[3]);
  CHECK(keys[0] != keys[1]);
  CHECK(result.entries[0].job.env == std::map<std::string, std::string>{{"X", "1"}});
  CHECK(result.entries[1].job.env.at("BENCH_PARAM_paths") == "one");
}
