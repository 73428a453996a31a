// suites/mlperf: templates of MLPerf Training v5.1 to v6.1. A plan can be made of each, and its
// target, direction and number of runs are those of the rules.
#include <map>

#include "core/error.h"
#include "core/locations.h"
#include "runner/hosts/inventory.h"
#include "runner/plan/planner.h"
#include "runner/plan/suite.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

struct Rule {
  double target;
  std::string direction;
  std::size_t runs;
};

// training_policies and the compliance checker's rule sets 5.1.0 to 6.1.0.
const std::map<std::string, Rule> kRules = {{"llama31_405b", {5.6, "lower", 3}},
                                            {"llama31_8b", {3.3, "lower", 10}},
                                            {"llama2_70b_lora", {0.925, "lower", 10}},
                                            {"flux1", {0.586, "lower", 10}},
                                            {"retinanet", {0.34, "higher", 5}},
                                            {"dlrm_dcnv2", {0.80275, "higher", 10}},
                                            {"rgat", {0.72, "higher", 10}},
                                            {"gpt_oss_20b", {3.34, "lower", 10}},
                                            {"deepseekv3_671b", {3.6, "lower", 3}},
                                            {"qwen35_397b_grpo", {0.69, "higher", 3}},
                                            {"dlrmv4", {0.75, "higher", 10}}};

}  // namespace

TEST_CASE(
    "every benchmark of MLPerf Training v5.1 to v6.1 has a template, with the rules' target and "
    "runs") {
  const auto catalogue = ProbeCatalogue::load(data_root() / "schemas" / "probes");
  for (const auto& [name, rule] : kRules) {
    INFO(name);
    const Suite suite = read_suite(find_suite("mlperf/" + name), catalogue);
    CHECK(suite.name == "mlperf." + name);
    LaunchSite site{LauncherKind::automatic, "/bin/true", "", "", false};
    const Plan plan = make_plan(suite, this_host_only(), catalogue, site, {});
    CHECK(plan.entries.size() == rule.runs);
    std::uint64_t seed = 0;
    for (const PlanEntry& entry : plan.entries) {
      CHECK(entry.skip == "");
      CHECK(entry.job.probe == "external");
      CHECK(entry.job.params.at("target") == rule.target);
      CHECK(entry.job.params.at("direction") == rule.direction);
      CHECK(entry.job.params.at("benchmark") == name);
      CHECK(entry.job.seed == ++seed);                        // each run another
      CHECK(entry.expected == Seconds{entry.job.timeout_s});  // nobody knows better
    }
  }
}

TEST_CASE("no template of MLPerf stands there without a rule") {
  std::size_t found = 0;
  for (const auto& file : all_suites())
    if (const std::string name = suite_name(file); name.starts_with("mlperf/")) {
      INFO(name);
      CHECK(kRules.contains(name.substr(7)));
      ++found;
    }
  CHECK(found == kRules.size());
}

TEST_CASE("a suite in a folder is found by folder and name, and a slip is answered with them") {
  CHECK(find_suite("mlperf/rgat").filename() == "rgat.json");
  try {
    find_suite("mlperf/rgta");
    FAIL("there is no such suite");
  } catch (const Error& error) {
    CHECK_THAT(error.hint(), Contains("mlperf/rgat, ") && Contains("Did you mean 'mlperf/rgat'?"));
  }
}
