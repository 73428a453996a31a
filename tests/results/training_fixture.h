// Made-up records of the probe `training`.
#pragma once

#include <string>
#include <vector>

#include "results/run/run_records.h"
#include "results/verdicts/training/training_report.h"
#include "tests/results/run_fixture.h"

namespace bench {

struct MadeTraining {
  std::uint64_t seed = 1;
  double seconds = 10.0;  // to the target
  double samples = 1e6;
  double gap = 0.1;
  bool converged = true;
  double rate = 300e3;  // items a second
  double target = 0.12;
  Json checks = Json::array();
  int ranks = 1;
  std::int64_t batch = 32;
  std::string preset = "tiny";
  std::string workload = "llm";
  Json resumed_from = nullptr;  // step
  Json offload = nullptr;       // facts
};

inline Samples one_value(const std::string& metric, double value, Unit unit) {
  Samples samples;
  samples.metric = metric;
  samples.unit = unit;
  samples.better = Better::none;
  samples.values = {value};
  samples.flags = {kClean};
  samples.stop = "fixed";
  return samples;
}

class TrainingFixture {
 public:
  explicit TrainingFixture(std::string id = "20261120T183005Z-train-0001") : run(std::move(id)) {}

  static Json params_of(const MadeTraining& made) {
    return {{"workload", made.workload},
            {"preset", made.preset},
            {"seed", made.seed},
            {"steps", 0},
            {"lanes", 0},
            {"batch", 0},
            {"target", nullptr},
            {"offload", made.offload.is_null() ? Json() : Json("/d")},
            {"dtype", "f32"}};
  }

  static Json facts_of(const MadeTraining& made) {
    const auto reached = [&](double value) { return made.converged ? Json(value) : Json(); };
    return {{"workload", made.workload},
            {"preset", made.preset},
            {"item", "token"},
            {"items_per_sample", 64},
            {"flops_per_sample", 64 * 0.6e6},
            {"batch", made.batch},
            {"target", made.target},
            {"floor", 2.35},
            {"lanes", 2},
            {"ranks", made.ranks},
            {"dtype", "f32"},
            {"seed", made.seed},
            {"converged", made.converged},
            {"quality", made.gap},
            {"samples_to_target", reached(made.samples)},
            {"seconds_to_target", reached(made.seconds)},
            {"init_seconds", 0.05},
            {"run_seconds", made.seconds},
            {"offload", made.offload},
            {"peak_flops", {{"value", 1e12}, {"kind", "given"}, {"source", "2 cores x 3 GHz"}}},
            {"baselines", {{"bigram", 0.7}}},
            {"straggler_spread", 0.1},
            {"resumed_from_step", made.resumed_from},
            {"checks", made.checks}};
  }

  /// Its job, named t1, t2, ...
  std::string plan(const MadeTraining& made, Json params) {
    const std::string job = "t" + std::to_string(++jobs_);
    run.job(job, "train", "training", std::move(params), made.ranks);
    return job;
  }

  TrainingFixture& add(const MadeTraining& made) {
    const std::string job = plan(made, params_of(made));
    run.add(job, Facts{"training", facts_of(made)});
    run.add(job, one_value("items_per_second", made.rate, Unit::count));
    Samples mfu = one_value("mfu", 0.18, Unit::ratio);
    mfu.params = {{"peak", "given"}};
    run.add(job, mfu);
    run.add(job, Chunk{"curve", curve(made)});
    run.add(job, Chunk{"breakdown", breakdown()});
    run.add(job, Chunk{"memory",
                       {{"label", {"parameters", "activations"}}, {"bytes", {400000, 1 << 20}}}});
    run.outcome(job);
    return *this;
  }

  static Json curve(const MadeTraining& made) {
    Json samples = {made.samples / 4, made.samples / 2, made.samples};
    return {{"samples", std::move(samples)},
            {"seconds", {made.seconds / 4, made.seconds / 2, made.seconds}},
            {"gap", {1.5, 0.4, made.gap}},
            {"native", {3.85, 2.75, 2.35 + made.gap}},
            {"loss", {3.9, 2.8, 2.5}}};
  }

  static Json breakdown() {
    return {{"phase", {"data", "forward", "backward", "optimizer", "exchange_hidden"}},
            {"seconds", {0.5, 3.0, 6.0, 0.5, 2.0}},
            {"share", {0.05, 0.3, 0.6, 0.05, nullptr}},
            {"slowest_rank", {0, 0, 1, 0, 0}}};
  }

  RunRecords records() const { return run.records(); }

  RunFixture run;

 private:
  int jobs_ = 0;
};

/// One run of several trainings that differ by seed and seconds.
inline RunRecords trainings_of(const std::vector<double>& seconds) {
  TrainingFixture fixture;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    fixture.add({.seed = i + 1, .seconds = seconds[i], .samples = seconds[i] * 1e5});
  return fixture.records();
}

inline TrainingReport training_report_of(const RunRecords& records) {
  return make_training_report(std::vector<RunRecords>{records});
}

}  // namespace bench
