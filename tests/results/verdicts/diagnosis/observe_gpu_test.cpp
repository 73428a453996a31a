#include <algorithm>
#include <string>

#include "results/verdicts/diagnosis/diagnosis.h"
#include "tests/results/run_fixture.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"

namespace bench::diagnosis {
namespace {

using M = Measure;

struct MadeGpus {
  std::vector<double> clocks = {1.9e9, 1.9e9};
  double thermal_s_per_s = 0.0, ecc = 0.0;
  double sm = 0.54, tensor = 0.42, dram = 0.3;
  int width = 16, recovery = 0;
  double checkpoints_s = 3.0;
  std::optional<double> transfer_s = {};
};

Json telemetry_of(const MadeGpus& made) {
  Json sources = {{"host.cpu",
                   {{"all_s", {{"total", 100.0}}},
                    {"busy_s", {{"total", 30.0}}},
                    {"steal_s", {{"total", 0.5}}}}}};
  for (std::size_t i = 0; i < made.clocks.size(); ++i) {
    const std::string gpu = "gpu" + std::to_string(i);
    sources[gpu + ".fast"] = {{"sm_clock_hz", {{"mean", made.clocks[i]}}}};
    sources[gpu + ".slow"] = {{"throttled_hardware_thermal_s", {{"mean", made.thermal_s_per_s}}}};
    sources[gpu + ".health"] = {{"ecc_uncorrected", {{"total", made.ecc}}},
                                {"remapped_rows_failed", {{"total", 0.0}}}};
    sources[gpu + ".activity"] = {{"sm_active", {{"mean", made.sm}}},
                                  {"tensor_active", {{"mean", made.tensor}}},
                                  {"dram_active", {{"mean", made.dram}}}};
  }
  return {{"phases",
           {{{"phase", "job"}, {"params", nullptr}, {"seconds", 10.0}, {"sources", sources}}}}};
}

Json gpus_of(const MadeGpus& made) {
  Json gpus = Json::array();
  for (std::size_t i = 0; i < made.clocks.size(); ++i)
    gpus.push_back({{"index", i},
                    {"uuid", "GPU-" + std::to_string(i)},
                    {"sm_clock_max_hz", 2.0e9},
                    {"pcie_width", made.width},
                    {"pcie_width_max", 16},
                    {"recovery_action", made.recovery}});
  return {{"gpus", gpus}};
}

/// 60 % of the steps are passes, 30 % checkpoints.
RunFixture gpu_training(const MadeGpus& made) {
  RunFixture run;
  run.job("t1", "llm", "training", Json::object(), static_cast<int>(made.clocks.size()));
  run.plan["jobs"].back()["device"] = "cuda";
  run.add("t1", Facts{"device", {{"id", "GPU-0"}}});
  run.add("t1", Facts{"gpus", gpus_of(made)});
  run.add("t1", Facts{"training", {{"host", {{"others_share", 0.0}, {"steal_share", 0.0}}}}});
  Json phases = {"data", "forward", "backward", "optimizer", "lane_wait", "checkpoint", "other"};
  Json spent = {0.0, 2.0, 4.0, 1.0, 0.0, made.checkpoints_s, 0.0};
  if (made.transfer_s) {
    phases.push_back("transfer");
    spent.push_back(*made.transfer_s);
  }
  run.add("t1", Chunk{"breakdown", {{"phase", phases}, {"seconds", spent}}});
  Json seconds = Json::array();
  for (int i = 0; i < 200; ++i) seconds.push_back(0.05);
  run.add("t1", Chunk{"steps", {{"seconds", seconds}}});
  run.add("t1", one_value("step_time", 0.05, Unit::second));
  run.add("t1", Facts{"telemetry", telemetry_of(made)});
  return run;
}

Diagnosed diagnosed(const MadeGpus& made) {
  RunFixture run = gpu_training(made);
  run.outcome("t1");
  const auto all = diagnose_run(run.records());
  REQUIRE(all.size() == 1);
  REQUIRE(all.front().diagnosis.bottleneck);
  return all.front();
}

}  // namespace

TEST_CASE("GPU activity is attributed to the passes, and clocks are compared with peers") {
  const Diagnosed one = diagnosed({});
  CHECK(one.observation.value(M::sm_active) == Approx(0.9));
  CHECK(one.observation.value(M::tensor_active) == Approx(0.7));
  CHECK(one.observation.value(M::dram_active) == Approx(0.5));
  CHECK(one.observation.value(M::clock_share) == Approx(1.0));
  CHECK(one.observation.value(M::host_cpu_share) == Approx(0.3));
  CHECK(one.observation.value(M::steal_share) ==
        0.0);  // reported by the probe in addition to telemetry
  CHECK(one.observation.value(M::pcie_width_share) == 1.0);
  CHECK(one.observation.find(M::transfer_share) == nullptr);
  CHECK(one.diagnosis.bottleneck->rule == "checkpoint");
}

TEST_CASE("the clock of a single GPU is compared with its maximum") {
  CHECK(diagnosed({.clocks = {1.5e9}}).observation.value(M::clock_share) == Approx(0.75));
}

TEST_CASE("GPU faults and throttling take precedence over waits") {
  CHECK(diagnosed({.ecc = 1.0}).diagnosis.bottleneck->rule == "ecc");
  CHECK(diagnosed({.width = 8}).diagnosis.bottleneck->rule == "pcie_width");
  CHECK(diagnosed({.recovery = 1}).diagnosis.bottleneck->rule == "recovery");
  const Diagnosed hot = diagnosed({.clocks = {1.9e9, 1.9e9, 0.95e9}, .thermal_s_per_s = 0.4});
  CHECK(hot.diagnosis.bottleneck->rule == "hardware_slowdown");
  CHECK(hot.diagnosis.bottleneck->gain == Approx(2.0));
}

TEST_CASE("a fatal Xid on a training's GPU is a hardware fault") {
  RunFixture run = gpu_training({});
  run.add("t1", Event{"device_fault", {{"code", 79}, {"text", "fell off"}, {"fatal", true}}});
  run.outcome("t1", Status::invalid, "Xid 79");
  CHECK(diagnose_run(run.records()).front().diagnosis.bottleneck->rule == "xid");
}

TEST_CASE("GPUs with idle SMs are launch-bound if nothing else holds") {
  MadeGpus idle{.sm = 0.24, .tensor = 0.1, .dram = 0.1};
  CHECK(diagnosed(idle).diagnosis.bottleneck->rule == "launch_bound");
}

TEST_CASE("busy tensor cores mean compute-bound, and an untimed transfer stays undetermined") {
  const Diagnosis diagnosis = diagnosed({.tensor = 0.6, .checkpoints_s = 0.0}).diagnosis;
  CHECK(diagnosis.bottleneck->rule == "compute_tensor");
  CHECK(std::ranges::count(diagnosis.not_judged, "transfer", &Unknown::rule) == 1);
}

TEST_CASE("exposed host-to-device copies are found from the breakdown") {
  const MadeGpus copying{.tensor = 0.6, .checkpoints_s = 0.0, .transfer_s = 3.0};
  CHECK(diagnosed(copying).diagnosis.bottleneck->rule == "transfer");
}

}  // namespace bench::diagnosis
