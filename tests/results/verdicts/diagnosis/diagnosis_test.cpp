#include "results/verdicts/diagnosis/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/results/made_cases.h"
#include "tests/support/catch.h"

namespace bench::diagnosis {
namespace {

using M = Measure;

bool says(const std::vector<std::string>& lines, const std::string& text) {
  return std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a healthy training is compute-bound, with its share of device throughput") {
  const Diagnosis diagnosis = diagnose(healthy(false));
  REQUIRE(diagnosis.healthy());
  CHECK(diagnosis.bottleneck->share == Approx(0.93));
  // 85 % of the steps are passes at 70 % of the products' speed.
  CHECK(diagnosis.bottleneck->gain == Approx(1.0 / (1.0 - 0.85 * 0.3)));
  CHECK_FALSE(diagnosis.next);
  CHECK(diagnosis.not_judged.empty());
}

TEST_CASE("an empty observation is not evaluated") {
  for (const bool on_gpu : {false, true}) {
    Observation nothing;
    nothing.on_gpu = on_gpu;
    const Diagnosis diagnosis = diagnose(nothing);
    CHECK_FALSE(diagnosis.bottleneck);
    CHECK(diagnosis.all.empty());
    CHECK_FALSE(diagnosis.healthy());
    CHECK(diagnosis.not_judged.size() > 10);
  }
}

TEST_CASE("evidence has value, bound and source") {
  Observation made = with(healthy(false), {{M::data_share, 0.421}, {M::readiness, 0.2}});
  made.set(M::data_share, 0.421, "images: stall");
  const Diagnosis diagnosis = diagnose(made);
  REQUIRE(diagnosis.bottleneck);
  CHECK(says(diagnosis.bottleneck->evidence, "data wait 42.1 % (> 5 %; images: stall)"));
}

TEST_CASE("the potential gain of a wait follows Amdahl's law") {
  const Diagnosis data = diagnose(with(
      healthy(false), {{M::data_share, 0.5}, {M::readiness, 0.0}, {M::worker_cpu_share, 1.0}}));
  CHECK(data.bottleneck->gain == Approx(2.0));
  const Diagnosis fetch = diagnose(
      with(healthy(false), {{M::data_share, 0.5}, {M::readiness, 0.0}, {M::cached_removes, 0.8}}));
  CHECK(fetch.bottleneck->gain == Approx(1.0 / (1.0 - 0.4)));
  const Diagnosis hot =
      diagnose(with(healthy(true), {{M::hw_slowdown_share, 0.5}, {M::clock_share, 0.5}}));
  CHECK(hot.bottleneck->gain == Approx(2.0));
  const Diagnosis network =
      diagnose(with(healthy(false), {{M::exchange_share, 0.4}, {M::busbw_share, 0.25}}));
  CHECK(network.bottleneck->gain == Approx(1.0 / (1.0 - 0.4 * 0.75)));
}

TEST_CASE("no gain is reported without an upper bound") {
  const Diagnosis diagnosis = diagnose(without(
      with(healthy(true), {{M::tensor_active, 0.1}, {M::dram_active, 0.1}}), {M::gemm_share}));
  CHECK(diagnosis.bottleneck->rule == "non_tensor");
  CHECK(std::isnan(diagnosis.bottleneck->gain));
  CHECK(diagnosis.bottleneck->gain_text.empty());
}

TEST_CASE("causes add up: only the first rule on a share counts") {
  const Diagnosis diagnosis = diagnose(with(healthy(false), {{M::data_share, 0.2},
                                                             {M::readiness, 0.1},
                                                             {M::worker_cpu_share, 0.95},
                                                             {M::exchange_share, 0.3},
                                                             {M::checkpoint_share, 0.1}}));
  std::vector<std::string> names;
  double sum = 0.0;
  for (const Finding& one : diagnosis.all) {
    names.push_back(one.rule);
    sum += one.share;
  }
  CHECK(names == std::vector<std::string>{"data_preparation", "network_bound", "checkpoint"});
  CHECK(sum == Approx(0.6));
}

TEST_CASE("removing the bottleneck raises the other shares and names the next one") {
  const Observation made = with(healthy(false), {{M::data_share, 0.5},
                                                 {M::readiness, 0.0},
                                                 {M::worker_cpu_share, 1.0},
                                                 {M::exchange_share, 0.15}});
  const Diagnosis diagnosis = diagnose(made);
  CHECK(diagnosis.bottleneck->rule == "data_preparation");
  CHECK(diagnosis.all.size() == 1);  // 15 % is not much of the whole, and work less than half
  REQUIRE(diagnosis.next);
  CHECK(diagnosis.next->rule == "network_bound");  // 15 of the 50 that are left
  CHECK(diagnosis.next->share == Approx(0.3));

  const Observation after = after_fix(made, *find_rule("data_preparation"));
  double sum = 0.0;
  for (const Measure part : step_parts()) sum += after.value(part);
  CHECK(sum == Approx(1.0));
  CHECK(after.value(M::data_share) == 0.0);
}

TEST_CASE("half of a wait remains when half of its cause is removed") {
  const Diagnosis diagnosis = diagnose(
      with(healthy(false), {{M::data_share, 0.5}, {M::readiness, 0.0}, {M::cached_removes, 0.6}}));
  CHECK(diagnosis.bottleneck->rule == "data_fetch");
  REQUIRE(diagnosis.next);
  CHECK(diagnosis.next->rule == "data_wait");
  CHECK(diagnosis.next->share == Approx((0.5 - 0.3) / 0.7));
}

TEST_CASE("compute is the next bottleneck after checkpoints and evaluations") {
  for (const Measure measure : {M::checkpoint_share, M::evaluation_share}) {
    const Diagnosis diagnosis = diagnose(with(healthy(false), {{measure, 0.3}}));
    REQUIRE(diagnosis.next);
    CHECK(diagnosis.next->cause == Cause::compute);
  }
}

TEST_CASE("invalid measurements and hardware faults have no next bottleneck") {
  for (const MadeCase& made : made_cases()) {
    const Cause cause = find_rule(made.rule)->cause;
    if (cause != Cause::measurement_invalid && cause != Cause::hardware_fault) continue;
    Observation slow = made.observation;
    slow = with(slow, {{M::checkpoint_share, 0.3}});
    const Diagnosis diagnosis = diagnose(slow);
    INFO(made.rule);
    CHECK(diagnosis.bottleneck->rule == made.rule);
    CHECK(finding_by(diagnosis, "checkpoint") != nullptr);
    CHECK_FALSE(diagnosis.next);
  }
}

TEST_CASE("a GPU without activity counters is not reported as compute-bound") {
  const Diagnosis diagnosis = diagnose(
      without(healthy(true), {M::sm_active, M::tensor_active, M::dram_active, M::gemm_share}));
  REQUIRE(diagnosis.bottleneck);
  CHECK(diagnosis.bottleneck->cause == Cause::device_work);
  CHECK_FALSE(diagnosis.healthy());
  for (const char* rule : {"launch_bound", "memory_bound", "non_tensor", "compute_tensor"})
    CHECK(std::ranges::find(diagnosis.not_judged, rule, &Unknown::rule) !=
          diagnosis.not_judged.end());
}

TEST_CASE("communication rules skip loaders, and input rules skip checkpoints") {
  Observation loader;
  loader.subject = Subject::loader;
  for (const Unknown& one : diagnose(loader).not_judged) CHECK(one.rule != "network_bound");
  Observation checkpoint;
  checkpoint.subject = Subject::checkpoint;
  for (const Unknown& one : diagnose(checkpoint).not_judged) CHECK(one.rule != "data_fetch");
  checkpoint.set(M::checkpoint_share, 0.2, "made");
  CHECK(diagnose(checkpoint).bottleneck->rule == "checkpoint");
}

TEST_CASE("values that are not numbers are dropped") {
  Observation made;
  made.set(M::data_share, std::nan(""), "made");
  made.set(M::drift, 1.0 / 0.0, "made");
  CHECK(made.all().empty());
  made.set(M::drift, 0.2, "made");
  made.set_missing(M::drift, "not measured");
  CHECK(made.find(M::drift) == nullptr);
  CHECK(made.why_missing(M::drift) == "not measured");
}

TEST_CASE("repeats are merged by measure if every one has it") {
  std::vector<Observation> repeats(3);
  for (int i = 0; i < 3; ++i) {
    auto& one = repeats[static_cast<std::size_t>(i)];
    one.jobs = {"t" + std::to_string(i)};
    one.set(M::data_share, 0.1 * (i + 1), "llm: breakdown");
    one.set(M::fatal_xids, i, "events");
    one.set(M::steps, 100.0 * (i + 1), "steps");
  }
  repeats[1].set(M::mfu, 0.4, "mfu");
  const Observation all = combined(repeats);
  CHECK(all.jobs == std::vector<std::string>{"t0", "t1", "t2"});
  CHECK(all.value(M::data_share) == Approx(0.2));
  CHECK(all.value(M::fatal_xids) == 3.0);
  CHECK(all.value(M::steps) == 100.0);
  CHECK(all.find(M::mfu) == nullptr);
  CHECK(all.find(M::data_share)->source == "llm: breakdown, and 2 repeats");
}

TEST_CASE("unaccounted time is derived only if all parts of a step are known") {
  Observation made;
  made.set(M::passes_share, 0.5, "made");
  made.set(M::optimizer_share, 0.2, "made");
  add_sums(made);
  CHECK(made.value(M::work_share) == Approx(0.7));
  CHECK(made.find(M::residual_share) == nullptr);
  for (const Measure part : {M::data_share, M::transfer_share, M::exchange_share, M::pipeline_share,
                             M::offload_share, M::lane_wait_share, M::checkpoint_share})
    made.set(part, 0.02, "made");
  add_sums(made);
  CHECK(made.value(M::residual_share) == Approx(0.16));
}

}  // namespace bench::diagnosis
