#include <algorithm>
#include <cmath>
#include <string>

#include "results/verdicts/diagnosis/diagnosis.h"
#include "tests/results/run_fixture.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"

namespace bench::diagnosis {
namespace {

using M = Measure;

/// Steps of 10 ms, the last half `late` times as long.
Json steps_chunk(int count, double late = 1.0) {
  Json numbers = Json::array(), seconds = Json::array();
  for (int i = 0; i < count; ++i) {
    numbers.push_back(i);
    seconds.push_back(0.01 * (i < count / 2 ? 1.0 : late));
  }
  return {{"step", numbers}, {"seconds", seconds}};
}

Json breakdown_chunk(const std::vector<std::pair<std::string, double>>& phases) {
  Json names = Json::array(), seconds = Json::array(), shares = Json::array();
  for (const auto& [phase, time] : phases) {
    names.push_back(phase);
    seconds.push_back(time);
    shares.push_back(nullptr);
  }
  return {{"phase", names}, {"seconds", seconds}, {"share", shares}, {"slowest_rank", shares}};
}

const Json kQuiet = {{"others_share", 0.01}, {"steal_share", 0.0}, {"throttled_s", nullptr}};

/// 10 s of steps and 1 s of evaluations.
std::vector<std::pair<std::string, double>> plain_phases() {
  return {
      {"data", 0.1},      {"forward", 3.0},   {"backward", 6.0},       {"exchange_exposed", 0.0},
      {"optimizer", 0.7}, {"lane_wait", 0.1}, {"evaluation", 0.8},     {"checkpoint", 0.0},
      {"checks", 0.2},    {"other", 0.1},     {"exchange_hidden", 0.0}};
}

void add_training(RunFixture& run, const std::string& job,
                  const std::vector<std::pair<std::string, double>>& phases, int ranks = 1,
                  Json facts = {{"host", kQuiet}}, int steps = 400) {
  run.job(job, "llm", "training", {{"workload", "llm"}}, ranks);
  run.add(job, Facts{"training", std::move(facts)});
  run.add(job, Chunk{"breakdown", breakdown_chunk(phases)});
  run.add(job, Chunk{"steps", steps_chunk(steps)});
  Samples mfu = one_value("mfu", 0.6, Unit::ratio);
  mfu.params = {{"peak", "measured"}};
  run.add(job, mfu);
  run.outcome(job);
}

Samples loader_value(const std::string& metric, double value, Json params) {
  Samples one = one_value(metric, value, Unit::ratio);
  one.params = std::move(params);
  return one;
}

struct MadeLoader {
  double stall = 0.0, readiness = 1.0;
  std::vector<double> waits = std::vector<double>(200, 0.0);
  double rate = 1000.0, per_cpu = 1000.0, stage = 0.001, read_wall = 0.0001, read_cpu = 0.0001;
  double cold_rate = 1000.0;
  bool from_memory = true;
};

/// Batches of 10 for steps of 10 ms, one worker.
void add_loader(RunFixture& run, const MadeLoader& made) {
  run.job("d1", "images", "data_loader", {{"gpus_per_node", 1}});
  const Json loop = {{"num_workers", 1}, {"batch_size", 10}};
  Json step = loop, cold = loop, read = loop, decode = loop;
  step["step_s"] = 0.01;
  step["step"] = "sleep";
  cold["cache"] = "cold";
  read["stage"] = "read";
  decode["stage"] = "decode";
  run.add("d1", loader_value("samples_per_second", made.rate, loop));
  run.add("d1", loader_value("samples_per_second", made.cold_rate, cold));
  run.add("d1", loader_value("samples_per_cpu_second", made.per_cpu, loop));
  run.add("d1", loader_value("stage_time", made.read_cpu, read));
  run.add("d1", loader_value("stage_wall", made.read_wall, read));
  run.add("d1", loader_value("stage_wall", made.stage - made.read_wall, decode));
  run.add("d1", loader_value("read_rate", 1e6 * made.rate, loop));
  run.add("d1", loader_value("read_rate", 1e9, {{"cache", "cold"}, {"num_workers", 1}}));
  run.add("d1", loader_value("stall", made.stall, step));
  run.add("d1", loader_value("readiness", made.readiness, step));
  run.add("d1", loader_value("drift", 0.01, step));
  Samples waits = loader_value("wait", 0.0, step);
  waits.values = made.waits;
  waits.flags.assign(made.waits.size(), kClean);
  run.add("d1", waits);
  run.add("d1", Facts{"data_loader",
                      {{"samples", 5000},
                       {"from_memory", made.from_memory},
                       {"host", kQuiet},
                       {"steps", {{{"step_s", 0.01}, {"length_s", 0.01}}}}}});
  run.outcome("d1");
}

const Observation& observed(const std::vector<Observation>& all, const std::string& part) {
  const auto found = std::ranges::find_if(
      all, [&](const Observation& one) { return one.what.find(part) != std::string::npos; });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("a run without training, loader or checkpoint has no diagnosis") {
  RunFixture run;
  run.job("g1", "gemm", "gemm").add("g1", samples("throughput", 1e12)).outcome("g1");
  CHECK(observe(run.records()).empty());
}

TEST_CASE("shares of a training refer to its steps, without evaluations") {
  RunFixture run;
  add_training(run, "t1", plain_phases());
  const auto all = observe(run.records());
  REQUIRE(all.size() == 1);
  const Observation& one = all.front();
  CHECK(one.case_name == "llm");
  CHECK(one.value(M::passes_share) == Approx(0.9));
  CHECK(one.value(M::optimizer_share) == Approx(0.07));
  CHECK(one.value(M::data_share) == Approx(0.01));
  CHECK(one.value(M::evaluation_share) == Approx(1.0 / 11.0));
  CHECK(one.value(M::residual_share) == Approx(0.01));
  CHECK(one.value(M::steps) == 390.0);
  CHECK(one.value(M::drift) == Approx(0.0).margin(1e-9));
  CHECK(one.value(M::gemm_share) == Approx(0.6));
  CHECK(one.value(M::throttled_s) == 0.0);
  CHECK(one.find(M::mfu) == nullptr);
  CHECK(diagnose(one).bottleneck->rule == "compute_host");
}

TEST_CASE("repeats of a training are one diagnosis") {
  RunFixture run;
  for (const char* job : {"t1", "t2", "t3"}) add_training(run, job, plain_phases());
  const auto all = observe(run.records());
  REQUIRE(all.size() == 1);
  CHECK(all.front().jobs.size() == 3);
}

TEST_CASE("a disturbed training is invalid, one without host telemetry unknown") {
  RunFixture crowded, unknown;
  add_training(crowded, "t1", plain_phases(), 1,
               {{"host", {{"others_share", 0.4}, {"steal_share", 0.0}, {"throttled_s", 0.0}}}});
  add_training(unknown, "t1", plain_phases(), 1, Json::object());
  CHECK(diagnose_run(crowded.records()).front().diagnosis.bottleneck->rule == "crowded");
  const Diagnosis open = diagnose_run(unknown.records()).front().diagnosis;
  CHECK(open.bottleneck->rule == "compute_host");
  for (const char* rule : {"stolen", "quota", "crowded"})
    CHECK(std::ranges::find(open.not_judged, rule, &Unknown::rule) != open.not_judged.end());
}

TEST_CASE("a training with slower later steps drifts") {
  RunFixture run;
  add_training(run, "t1", plain_phases());
  run.add("t1", Chunk{"steps", steps_chunk(400, 1.3)});
  CHECK(diagnose_run(run.records()).front().diagnosis.bottleneck->rule == "drift");
}

TEST_CASE("synchronous checkpoints are found, with stall and interval") {
  RunFixture run;
  auto phases = plain_phases();
  phases[7].second = 5.0;
  add_training(run, "t1", phases);
  run.add("t1", Chunk{"checkpoints",
                      {{"step", {100, 200, 300, 400}},
                       {"seconds", {1.2, 1.3, 1.2, 1.3}},
                       {"bytes", {1e9, 1e9, 1e9, 1e9}}}});
  const Diagnosed one = diagnose_run(run.records()).front();
  CHECK(one.diagnosis.bottleneck->rule == "checkpoint");
  CHECK(one.observation.value(M::checkpoint_share) == Approx(5.0 / 15.0));
  CHECK(one.observation.value(M::checkpoint_stall_s) == Approx(1.25));
  CHECK(one.observation.value(M::checkpoint_interval_s) == Approx(15.0 / 4.0));
  CHECK(one.observation.value(M::durable_rate) == Approx(0.8e9));
  CHECK(one.diagnosis.next->rule == "compute_host");
}

TEST_CASE("exposed communication is split by straggler and by reachable bandwidth") {
  const auto diagnosed = [](double spread, double limit) {
    RunFixture run;
    run.job("c1", "all_reduce", "collective", Json::object(), 2);
    for (const double bytes : {4e3, 1e6, 64e6}) {
      Samples busbw = one_value("busbw", bytes == 1e6 ? limit : 1e3, Unit::byte_per_second);
      busbw.params = {{"op", "all_reduce"}, {"size_bytes", bytes}};
      run.add("c1", busbw);
    }
    run.outcome("c1");
    auto phases = plain_phases();
    phases[3].second = 6.0;   // exposed
    phases[10].second = 2.0;  // hidden
    add_training(run, "t1", phases, 2,
                 {{"host", kQuiet}, {"straggler_spread", spread}, {"exchange_bytes", 4e6}});
    return diagnose_run(run.records()).back();
  };
  // 400 steps of 4 MB in 8 s: 200 MB/s.
  CHECK(diagnosed(0.01, 210e6).diagnosis.bottleneck->rule == "network_bound");
  CHECK(diagnosed(0.01, 210e6).observation.value(M::busbw) == Approx(200e6));
  CHECK(diagnosed(0.01, 2e9).diagnosis.bottleneck->rule == "misconfigured_network");
  CHECK(diagnosed(0.01, 300e6).diagnosis.bottleneck->rule == "exposed_exchange");
  // Passes of 9 s: the mean rank waits 4.5 s of 6 for the slowest.
  CHECK(diagnosed(0.5, 210e6).diagnosis.bottleneck->rule == "straggler");
  CHECK(diagnosed(0.5, 210e6).observation.value(M::arrival_share) == Approx(0.75));
  CHECK(diagnosed(0.01, 210e6).observation.value(M::overlap_share) == Approx(0.25));
}

TEST_CASE("a training log without step breakdown yields no guesses") {
  RunFixture run;
  add_training(run, "t1", {{"init", 1.0}, {"train", 9.0}, {"evaluation", 1.0}, {"other", 0.1}}, 1,
               {{"external", true}});
  const Diagnosed one = diagnose_run(run.records()).front();
  CHECK(one.observation.value(M::evaluation_share) == Approx(1.0 / 10.1));
  CHECK_FALSE(one.diagnosis.bottleneck);
  const auto unknown = std::ranges::find(one.diagnosis.not_judged, "compute_host", &Unknown::rule);
  REQUIRE(unknown != one.diagnosis.not_judged.end());
  CHECK(unknown->why.find("has no step breakdown") != std::string::npos);
}

TEST_CASE("the data phase of a model with tables, which includes lookups, is not data wait") {
  RunFixture run;
  auto phases = plain_phases();
  phases[0].second = 8.0;
  add_training(run, "t1", phases, 1, {{"host", kQuiet}, {"table_threads", 2}});
  const Diagnosis diagnosis = diagnose_run(run.records()).front().diagnosis;
  CHECK(diagnosis.bottleneck->rule == "compute_host");
  CHECK(std::ranges::any_of(diagnosis.not_judged,
                            [](const Unknown& one) { return one.rule == "data_wait"; }));
}

TEST_CASE("a loader that keeps up is compute-bound") {
  RunFixture run;
  add_loader(run, {});
  const auto all = diagnose_run(run.records());
  REQUIRE(all.size() == 1);
  CHECK(all.front().observation.what == "step 0.01 s, from memory");
  CHECK(all.front().diagnosis.bottleneck->rule == "compute_host");
}

TEST_CASE("a loader with busy workers is bound by CPU preprocessing") {
  RunFixture run;
  // 500 samples/s of 2 ms of processor each.
  add_loader(run, {.stall = 0.5,
                   .readiness = 0.0,
                   .waits = std::vector<double>(200, 0.01),
                   .rate = 500.0,
                   .per_cpu = 500.0,
                   .stage = 0.002,
                   .cold_rate = 500.0});
  const Diagnosed one = diagnose_run(run.records()).front();
  CHECK(one.observation.value(M::worker_cpu_share) == Approx(1.0));
  CHECK(one.diagnosis.bottleneck->rule == "data_preparation");
  CHECK(one.diagnosis.bottleneck->gain == Approx(2.0));
}

TEST_CASE("a loader with a slower cold pass is bound by storage reads, but not when warm") {
  RunFixture run;
  add_loader(run, {.cold_rate = 250.0});
  const auto all = observe(run.records());
  CHECK(diagnose(observed(all, "from memory")).bottleneck->rule == "compute_host");
  const Observation& cold = observed(all, "first pass from disk");
  CHECK(cold.value(M::data_share) == Approx(0.75));
  CHECK(cold.value(M::cached_removes) == Approx(1.0));
  CHECK(cold.value(M::steps) == 500.0);
  CHECK(cold.value(M::storage_share) == Approx(0.25));
  CHECK(diagnose(cold).bottleneck->rule == "data_fetch");
}

TEST_CASE("a data set larger than memory is judged by its disk wait") {
  RunFixture run;
  // A sample takes 4 ms, 3.6 of them in the disk.
  add_loader(run, {.stall = 0.75,
                   .readiness = 0.0,
                   .waits = std::vector<double>(200, 0.03),
                   .rate = 250.0,
                   .per_cpu = 2500.0,
                   .stage = 0.004,
                   .read_wall = 0.0037,
                   .read_cpu = 0.0001,
                   .cold_rate = 250.0,
                   .from_memory = false});
  const auto all = diagnose_run(run.records());
  REQUIRE(all.size() == 1);
  CHECK(all.front().observation.value(M::cached_removes) == Approx(1.0));
  CHECK(all.front().observation.value(M::worker_cpu_share) == Approx(0.1));
  CHECK(all.front().diagnosis.bottleneck->rule == "data_fetch");
}

TEST_CASE("head-of-line blocking is found from idle workers and rare waits") {
  MadeLoader made{.stall = 0.5, .readiness = 0.8, .rate = 500.0, .per_cpu = 1000.0};
  for (std::size_t i = 0; i < made.waits.size(); i += 5) made.waits[i] = 0.05;
  RunFixture run;
  add_loader(run, made);
  const Diagnosed one = diagnose_run(run.records()).front();
  CHECK(one.observation.value(M::worker_idle_share) == Approx(0.5));
  CHECK(one.observation.value(M::step_spread) == Approx(6.0));
  CHECK(one.diagnosis.bottleneck->rule == "head_of_line");
}

TEST_CASE("a few loader waits are not a steady state") {
  RunFixture run;
  add_loader(run, {.stall = 0.5, .readiness = 0.0, .waits = std::vector<double>(20, 0.01)});
  const Diagnosis diagnosis = diagnose_run(run.records()).front().diagnosis;
  CHECK_FALSE(diagnosis.bottleneck);
  CHECK_FALSE(diagnosis.not_judged.empty());
}

TEST_CASE("checkpoints during emulated steps have their measured cost") {
  RunFixture run;
  run.job("k1", "save", "checkpoint", {{"async_steps", 10}, {"step_s", 0.1}});
  const Json async = {{"mode", "async"}, {"access", "direct"}, {"model", "70b"}};
  Json sync = async;
  sync["mode"] = "sync";
  run.add("k1", loader_value("stall", 0.5, async));
  run.add("k1", loader_value("overhead", 0.3, async));
  run.add("k1", loader_value("write_time", 2.0, sync));
  run.outcome("k1");
  const auto all = observe(run.records());
  const Observation& overlapped = observed(all, "async");
  CHECK(overlapped.value(M::checkpoint_interval_s) == Approx(1.0));
  CHECK(diagnose(overlapped).bottleneck->rule == "checkpoint");
  const Diagnosis alone = diagnose(*std::ranges::find(all, "sync, direct", &Observation::what));
  CHECK_FALSE(alone.bottleneck);
  CHECK(std::ranges::any_of(alone.not_judged,
                            [](const Unknown& one) { return one.rule == "checkpoint"; }));
}

TEST_CASE("failed and skipped jobs are not diagnosed, and corrupt records are harmless") {
  RunFixture run;
  run.job("t1", "llm", "training").outcome("t1", Status::failed, "crashed");
  run.job("t2", "llm", "training");
  run.add("t2", Facts{"training", {{"host", 7}, {"straggler_spread", "much"}}});
  run.add("t2", Chunk{"breakdown", {{"phase", {"data", 3}}, {"seconds", {"x", 1.0}}}});
  run.add("t2", Chunk{"steps", {{"seconds", {nullptr, "a"}}}});
  run.outcome("t2");
  run.job("d1", "images", "data_loader");
  run.add("d1", loader_value("stall", 0.5, {{"step_s", "long"}}));
  run.add("d1", Facts{"data_loader", {{"steps", {1, "a"}}}});
  run.outcome("d1");
  for (const Diagnosed& one : diagnose_run(run.records())) CHECK_FALSE(one.diagnosis.healthy());
}

}  // namespace bench::diagnosis
