// What a profile says of steps whose faults are known, and what it makes of damaged records.
#include "results/verdicts/profile/step_profile.h"

#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/profile_output.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

/// A step of 8.5 ms: four layers of a linear operator of 2 ms, inputs 0.1 ms, 0.4 ms unattributed.
struct MadeProfile {
  Json operations = {{"operation", {"linear", "linear", "linear", "linear"}},
                     {"module", {"layer0", "layer1", "layer2", "layer3"}},
                     {"phase", {"forward", "forward", "forward", "forward"}},
                     {"shape", {"[4, 8]", "[4, 8]", "[4, 8]", "[4, 8]"}},
                     {"flops", {1e6, 1e6, 1e6, 1e6}},
                     {"bytes", {1e4, 1e4, 1e4, 1e4}},
                     {"calls", {2, 2, 2, 2}},
                     {"seconds", {2e-3, 2e-3, 2e-3, 2e-3}},
                     {"low", {2e-3, 2e-3, 2e-3, 2e-3}}};
  Json activities = {{"activity", {"data"}}, {"seconds", {1e-4}}};
  Json gaps = {{"after", {"linear forward of layer0"}},
               {"before", {"linear forward of layer1"}},
               {"seconds", {1e-5}},
               {"longest", {2e-5}}};
  Json resident = {{"step", Json::array()}, {"bytes", Json::array()}};
  Json steps = {{"step", {2, 3, 4, 5}},
                {"seconds", {1.01e-2, 1e-2, 1e-2, 1.01e-2}},
                {"recorded", {true, false, false, true}}};
  Json spans = {{"step", {0, 0, 3}},
                {"thread", {-1, 0, 1}},
                {"row", {-2, 0, 3}},
                {"begin", {0.0, 1e-3, 2e-3}},
                {"seconds", {1e-3, 2e-3, 2e-3}}};
  int ranks = 1;
  Json facts = {{"threads", 2},           {"micro_batches", 2},
                {"step_seconds", 8.5e-3}, {"unattributed", 4e-4},
                {"off_processor", 1e-5},  {"activities", {"operation", "data"}}};

  RunRecords records() const {
    RunFixture run;
    run.job("01.train", "train", "training", {{"workload", "llm"}}, ranks);
    run.add("01.train", Facts{"training", {{"peak_flops", {{"value", 4e9}, {"source", "given"}}}}});
    run.add("01.train", Chunk{"profile_operations", operations});
    run.add("01.train", Chunk{"profile_activities", activities});
    run.add("01.train", Chunk{"profile_gaps", gaps});
    run.add("01.train", Chunk{"profile_resident", resident});
    run.add("01.train", Chunk{"profile_steps", steps});
    run.add("01.train", Chunk{"profile_spans", spans});
    run.add("01.train", Facts{"profile", facts});
    run.outcome("01.train").end();
    return run.records();
  }
  StepProfile profile() const {
    const auto all = profiles_of(records());
    REQUIRE(all.size() == 1);
    return all.front();
  }
  std::vector<std::string> causes() const {
    std::vector<std::string> causes;
    for (const ProfileFinding& finding : findings_of(profile())) causes.push_back(finding.cause);
    return causes;
  }
};

using Causes = std::vector<std::string>;

/// After each step so many bytes more, from 100 MB.
Json growing(const std::vector<double>& growth) {
  Json steps = Json::array(), bytes = Json::array();
  double now = 1e8;
  for (std::size_t i = 0; i < growth.size(); ++i) {
    now += growth[i];
    steps.push_back(i);
    bytes.push_back(now);
  }
  return {{"step", steps}, {"bytes", bytes}};
}

Causes causes_of_growth(const std::vector<double>& growth) {
  MadeProfile made;
  made.resident = growing(growth);
  return made.causes();
}

}  // namespace

TEST_CASE("profile: equal operations without waits show nothing") {
  CHECK(MadeProfile().causes().empty());
}

TEST_CASE("profile: an operation slower than its equals is named with what it costs") {
  MadeProfile made;
  made.operations["low"][2] = made.operations["seconds"][2] = 4e-3;
  const auto findings = findings_of(made.profile());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].cause == "slow_operation");
  CHECK(findings[0].share == Approx(2.0 / 8.5));
  CHECK(findings[0].text ==
        "linear forward of layer2 takes 2.0 x as long as the median of 4 operations of equal work: "
        "23.5 % of the step is lost");
}

TEST_CASE("profile: an operation that is slow now and then, or has other work, is not slow") {
  MadeProfile sometimes;
  sometimes.operations["seconds"][2] = 4e-3;
  CHECK(sometimes.causes().empty());
  MadeProfile larger;
  larger.operations["low"][2] = larger.operations["seconds"][2] = 4e-3;
  larger.operations["flops"][2] = 2e6;
  CHECK(larger.causes().empty());
}

TEST_CASE("profile: gaps, inputs, waits and lost processors are named") {
  MadeProfile gap;
  gap.gaps["seconds"][0] = 2e-4;
  CHECK(gap.causes() == Causes{"idle_gap"});
  MadeProfile input;
  input.activities["seconds"][0] = 1e-3;
  CHECK(input.causes() == Causes{"input"});
  MadeProfile lane;
  lane.activities = {{"activity", {"lane_wait", "exchange", "messages"}},
                     {"seconds", {2e-3, 1.1e-3, 8e-4}}};
  CHECK(lane.causes() == Causes{"lane_wait", "exchange"});
  MadeProfile waits;
  waits.activities["activity"][0] = "rank_wait";
  waits.activities["seconds"][0] = 1e-3;
  CHECK(waits.causes() == Causes{"rank_wait"});
  MadeProfile rest;
  rest.facts["unattributed"] = 5e-4;
  CHECK(rest.causes() == Causes{"unattributed"});
  MadeProfile busy;
  busy.facts["off_processor"] = 5e-4;
  CHECK(busy.causes() == Causes{"off_processor"});
}

TEST_CASE("profile: memory that grows to the end is a leak") {
  CHECK(causes_of_growth(std::vector<double>(80, 1e5)) == Causes{"leak"});
  std::vector<double> uneven(80, 0.0);
  for (std::size_t i = 0; i < 80; i += 3) uneven[i] = 3e5;
  CHECK(causes_of_growth(uneven) == Causes{"leak"});
}

TEST_CASE("profile: memory that grows at first, once, or by a few numbers is no leak") {
  std::vector<double> at_first(80, 0.0), once(80, 0.0);
  for (std::size_t i = 0; i < 20; ++i) at_first[i] = 1e6;
  once[50] = 5e7;
  CHECK(causes_of_growth(at_first).empty());
  CHECK(causes_of_growth(once).empty());
  CHECK(causes_of_growth(std::vector<double>(80, 1000.0)).empty());
  CHECK(causes_of_growth(std::vector<double>(30, 1e6)).empty());  // too few steps to say
}

TEST_CASE("profile: operations, activities and the rest add up to the step") {
  const StepProfile profile = MadeProfile().profile();
  double sum = 0.0;
  for (const ProfileRow& row : by_operation(profile)) sum += row.seconds;
  CHECK(sum == Approx(profile.step_seconds));
  REQUIRE(by_operation(profile).front().operation == "linear");
  CHECK(by_operation(profile).front().calls == 8.0);
  CHECK(by_operation(profile).front().flops == 8e6);
  CHECK(by_module(profile).size() == 4);
  CHECK(hottest(profile, 3).size() == 3);
}

TEST_CASE("profile: the peak is that of one rank, whatever their number") {
  MadeProfile made;
  made.ranks = 2;
  CHECK(made.profile().peak_flops == 4e9);
  const std::string text = to_terminal(to_document({made.profile()}), TextStyle{});
  INFO(text);
  CHECK(text.find("50 %") != std::string::npos);  // 8 calls of 1e6 in 8 ms, in two threads
}

TEST_CASE("profile: the cost of recording is that over steps in between") {
  CHECK(overhead_of(MadeProfile().profile()).share == Approx(0.01));
  MadeProfile all;
  all.steps["recorded"] = {true, true, true, true};
  CHECK(!std::isfinite(overhead_of(all.profile()).share));
}

TEST_CASE("profile: the trace has a track for each thread, in microseconds") {
  const Json trace = trace_of(MadeProfile().profile());
  std::vector<std::string> names;
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X") names.push_back(event.at("name"));
  CHECK(names == Causes{"data", "linear", "linear", "step 2", "step 5"});
  const Json& linear = trace.at("traceEvents").at(3);
  CHECK(linear.at("ts") == Approx(1000.0));
  CHECK(linear.at("dur") == Approx(2000.0));
  CHECK(linear.at("args").at("module") == "layer0");
}

TEST_CASE("profile: the report and its JSON") {
  MadeProfile made;
  made.operations["low"][2] = made.operations["seconds"][2] = 4e-3;
  const std::vector<StepProfile> profiles{made.profile()};
  CHECK_NOTHROW(Schema::load(schema_path("report_profile")).check(to_json(profiles), "profile"));
  const std::string text = to_terminal(to_document(profiles), TextStyle{});
  for (const char* part : {"layer2 takes 2.0 x", "linear", "+1.0 %", "typical step"}) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("profile: the report names a leak as absent only where it was judged") {
  const auto text_of_profile = [](const MadeProfile& made) {
    return to_terminal(to_document({made.profile()}), TextStyle{});
  };
  MadeProfile made;
  CHECK(text_of_profile(made).find("was not judged: 0 of 40 steps") != std::string::npos);
  CHECK(text_of_profile(made).find("leak") == std::string::npos);
  made.resident = growing(std::vector<double>(80, 0.0));
  CHECK(text_of_profile(made).find("not judged") == std::string::npos);
  CHECK(text_of_profile(made).find("wait or leak") != std::string::npos);
}

TEST_CASE("profile: records that are damaged lose what is damaged") {
  MadeProfile made;
  made.operations["seconds"][1] = "fast";
  made.operations["flops"] = {nullptr, "many", 1e6, 1e6};
  made.spans["row"] = {99, -99, "x"};
  made.spans["step"] = {0, 1e300, -5};
  MadeProfile between;
  between.spans["row"] = {-0.5, 0.5, -1.5};
  between.facts["activities"] = Json::array();
  CHECK(between.profile().spans.size() == 1);
  made.gaps = Json::object();
  made.facts["activities"] = Json::array();
  const StepProfile profile = made.profile();
  CHECK(profile.spans.empty());
  CHECK(by_operation(profile).front().calls == 6.0);
  CHECK_NOTHROW(Schema::load(schema_path("report_profile")).check(to_json({profile}), "profile"));
  MadeProfile none;
  none.facts = "nothing";
  CHECK(profiles_of(none.records()).empty());
  made.facts = Json::object();
  CHECK(findings_of(made.profile()).empty());
  CHECK_NOTHROW(to_terminal(to_document({made.profile()}), TextStyle{}));
}

}  // namespace bench
