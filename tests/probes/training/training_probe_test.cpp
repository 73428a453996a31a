// The probe `training`: what a job says of its run, and when it must not be believed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/clean.h"
#include "core/mllog.h"
#include "core/training_progress.h"
#include "probes/training/training_records.h"
#include "tests/probes/training_job.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "training/workloads/llm.h"

namespace bench {
using Catch::Matchers::Contains;
namespace {

const Json kToEasyTarget = {{"target", 1.5}, {"lanes", 2}};

}  // namespace

TEST_CASE("a training that meets its target reports its time and samples") {
  TrainingJob job(kToEasyTarget);
  CHECK(job.run().status == Status::ok);
  const Json facts = job.facts(), curve = job.columns("curve");
  CHECK(facts.at("converged") == true);
  CHECK(facts.at("seed") == 1);
  CHECK(facts.at("target") == 1.5);
  CHECK(job.one("quality").values.at(0) == curve.at("gap").back().get<double>());
  CHECK(job.one("time_to_target").values.at(0) == curve.at("seconds").back().get<double>());
  CHECK(job.one("samples_to_target").values.at(0) == facts.at("samples_to_target"));
  CHECK(facts.at("samples_at_target_evaluation") == curve.at("samples").back());
  const std::size_t steps = job.one("step_time").values.size();
  CHECK(job.columns("steps").at("loss").size() == steps);
  CHECK(static_cast<double>(steps * 32) == curve.at("samples").back().get<double>());
  for (const Json& check : facts.at("checks")) CHECK(check.at("held") == true);
}

TEST_CASE("on a crowded machine no time of a training is clean, but its quality is", "[long]") {
  TrainingJob job({{"target", 1.5}, {"lanes", 2}, {"peak_flops", 1e12}});
  job.crowd();
  CHECK(job.run().status == Status::ok);
  CHECK(job.clean_metrics() == std::set<std::string>{"memory", "quality", "samples_to_target"});
  CHECK_THAT(job.one("time_to_target").reason, Contains("crowded"));
  CHECK(job.one("step_time").flags.size() == job.one("step_time").values.size());
  for (const char* metric : {"step_time", "items_per_second", "mfu", "time_to_target"})
    for (const unsigned flags : job.one(metric).flags) CHECK((flags & kCrowded) != 0);
}

TEST_CASE("utilisation of a peak that was not measured cleanly is not clean and says why") {
  for (const bool clean : {true, false}) {
    TrainingJob job({{"steps", 20}, {"lanes", 2}});
    job.job.limits = {
        {"model_flops",
         {{"dtype", "f32"}},
         {1e12, LimitKind::measured,
          "gemm.throughput measured in this run" + (clean ? "" : std::string(kDisturbedSource))}}};
    job.run();
    for (const char* metric : {"mfu", "hfu"}) {
      if (!clean) CHECK_FALSE(job.clean_metrics().contains(metric));
      const std::string reason = job.one(metric).reason;
      CHECK((reason.find("the peak it is a share of") != std::string::npos) == !clean);
    }
    CHECK(job.facts().at("peak_flops").at("clean") == clean);
  }
}

TEST_CASE("a training's breakdown adds up to its wall time") {
  TrainingJob job(kToEasyTarget);
  job.run();
  const Json table = job.columns("breakdown");
  double shares = 0.0, seconds = 0.0;
  for (std::size_t i = 0; i < table.at("phase").size(); ++i)
    if (!table.at("share")[i].is_null()) {
      shares += table.at("share")[i].get<double>();
      seconds += table.at("seconds")[i].get<double>();
    }
  CHECK(shares == Approx(1.0));
  CHECK(seconds == Approx(job.facts().at("run_seconds").get<double>()));
}

TEST_CASE("a training that misses its target skips the time to it, with the gap it reached") {
  TrainingJob job(Json::object());
  const auto workload = training::make_llm_workload("tiny", 1);
  training::TrainerOptions options;
  options.recipe = workload->recipe();
  options.recipe.horizon = 12;
  const auto trained = training::make_llm_workload("tiny", 1);
  training::Trainer trainer(
      *trained, options, [&](Dtype d) { return job.kernels.make(d); }, *job.group);
  training::RunObserver nobody;
  const training::TrainingRun run = trainer.run(nobody);
  State state(job.job, find_probe("training"), job.device, *job.group, job.sink);
  write_training(state, {*trained, options, trainer, run, "test"});
  CHECK(state.finish().status == Status::ok);
  const Samples missed = job.one("time_to_target");
  CHECK(missed.outcome == Status::skipped);
  CHECK_THAT(missed.reason,
             Contains("not converged: gap 1.") && Contains("after 384 samples, target 0.12"));
  CHECK(job.facts().at("converged") == false);
  CHECK(job.facts().at("samples_to_target").is_null());
}

TEST_CASE("a training whose parameters do not move is invalid, whatever it reached", "[long]") {
  TrainingJob job(Json{{"target", 3.0}, {"lanes", 2}});  // met without any training
  job.kernels.idle = true;
  const Outcome outcome = job.run();
  CHECK(outcome.status == Status::invalid);
  CHECK_THAT(outcome.reason, Contains("parameters_move"));
  CHECK(job.facts().at("converged") == false);
  CHECK(job.one("time_to_target").outcome == Status::skipped);
}

TEST_CASE("a number of steps is timed and not judged") {
  TrainingJob job(Json{{"steps", 20}, {"lanes", 1}, {"peak_flops", 1e12}});
  CHECK(job.run().status == Status::ok);
  CHECK(job.one("step_time").values.size() == 20);
  CHECK(job.one("items_per_second").values.size() == 1);
  CHECK_THAT(job.one("quality").reason, Contains("throughput only: 20 steps"));
  const double flops = job.one("model_flops").values.at(0);
  CHECK(flops == Approx(job.one("items_per_second").values.at(0) / 64 *
                        job.facts().at("flops_per_sample").get<double>()));
  CHECK(job.one("mfu").values.at(0) == Approx(flops / 1e12));
  CHECK(job.one("mfu").params.at("peak") == "given");
  CHECK(job.one("hfu").values.at(0) > job.one("mfu").values.at(0));
}

TEST_CASE("a training that needs more memory than there is is not started, and says so") {
  TrainingJob job(Json{{"steps", 2}, {"lanes", 2}, {"memory_budget", 1e6}});
  const Outcome outcome = job.run();
  CHECK(outcome.status == Status::skipped);
  CHECK_THAT(outcome.reason, Contains("out of memory: 4 samples at once on 2 lanes need ") &&
                                 Contains("activations; 976.6 KiB is allowed"));
  CHECK(std::ranges::any_of(job.sink.records, [](const Record& record) {
    const auto* event = std::get_if<Event>(&record.body);
    return event != nullptr && event->key == kOutOfMemoryEvent;
  }));
}

TEST_CASE("the largest batch fills the memory that is allowed, and trains") {
  TrainingJob job(
      Json{{"steps", 2}, {"lanes", 2}, {"memory_budget", 20e6}, {"largest_batch", true}});
  REQUIRE(job.run().status == Status::ok);
  const Json facts = job.facts();
  CHECK(facts.at("micro_batches") == 1);
  CHECK(facts.at("batch") == 2 * facts.at("micro_batch").get<std::int64_t>());
  CHECK(facts.at("batch") > 8);
  const Json need = facts.at("memory_need");
  CHECK(need.at("available") == 20e6);
  CHECK(need.at("bytes").get<double>() <= 20e6);
  CHECK(need.at("bytes").get<double>() > 15e6);
  double taken = 0.0;
  const Json memory = job.columns("memory");
  for (std::size_t i = 0; i < memory.at("bytes").size(); ++i)
    if (memory.at("label")[i] != "exchange") taken += memory.at("bytes")[i].get<double>();
  CHECK(taken == need.at("bytes").get<double>());
}

TEST_CASE("a training on a number of samples ends with one evaluation and no target") {
  TrainingJob job(Json{{"sample_budget", 100}, {"batch", 16}, {"lanes", 1}});
  REQUIRE(job.run().status == Status::ok);
  const Json curve = job.columns("curve");
  CHECK(curve.at("samples") == Json{96.0});  // six steps
  CHECK(job.one("quality").values.size() == 1);
  const TrainingProgress last = job.progress().back();
  CHECK(last.step == 6);
  CHECK(last.gap.value() == job.one("quality").values.front());
  CHECK(job.facts().at("target").is_null());
  CHECK(job.facts().at("converged") == false);
  CHECK_THAT(job.one("time_to_target").reason, Contains("trained on 96 samples without a target"));
}

TEST_CASE("the rate of a training with one evaluation leaves out the cold steps") {
  TrainingJob job(Json{{"sample_budget", 160}, {"batch", 4}, {"lanes", 1}});  // 40 steps
  REQUIRE(job.run().status == Status::ok);
  CHECK(job.one("items_per_second").values.size() == 3);  // windows of ten, without the first
}

TEST_CASE("a running training reports where it is") {
  Json params = {{"workload", "llm"}, {"preset", "tiny"}, {"steps", 3}, {"lanes", 1}, {"batch", 4}};
  params["peak_flops"] = 1e12;
  TrainingJob job(params);
  REQUIRE(job.run().status == Status::ok);
  const std::vector<TrainingProgress> reports = job.progress();
  REQUIRE(reports.size() >= 2);  // the first step and the end
  CHECK(reports.back().step == 3);
  const TrainingProgress& first = reports.front();
  CHECK(first.step == 1);
  CHECK(first.last_step == 3);
  CHECK(first.item == "token");
  CHECK(first.step_s > 0.0);
  CHECK(first.items_per_second == Approx(4.0 * 64.0 / first.step_s));
  CHECK(first.loss > 1.0);
  CHECK_FALSE(first.gap);
  CHECK_FALSE(first.target);
  CHECK(first.mfu.value() > 0.0);
  CHECK(first.mfu.value() < 1.0);
}

TEST_CASE("the gemm result earlier in the run is used as a peak as well") {
  TrainingJob job(Json{{"steps", 3}, {"lanes", 1}});
  job.job.limits.push_back(
      {"model_flops", {{"dtype", "f32"}}, {2e12, LimitKind::measured, "gemm.throughput"}});
  CHECK(job.run().status == Status::ok);
  CHECK(job.one("mfu").params.at("peak") == "measured");
  CHECK(job.facts().at("peak_flops").at("value") == 2e12);
}

TEST_CASE(
    "a training's log has the lines of MLPerf's rules, in their order, and names no submission") {
  const TemporaryDirectory folder;
  Json params = kToEasyTarget;
  params["mllog"] = (folder.path() / "result_{seed}.txt").string();
  TrainingJob job(params);
  job.run();
  std::ifstream file(folder.path() / "result_1.txt");
  std::vector<MllogLine> lines;
  for (std::string text; std::getline(file, text);) {
    const MllogParse parse = parse_mllog(text);
    REQUIRE(parse.line);
    lines.push_back(*parse.line);
  }
  std::map<std::string, int> count;
  std::vector<std::string> keys;
  for (const MllogLine& line : lines) {
    ++count[line.key];
    keys.push_back(line.key);
    if (line.key.starts_with("block_") || line.key.starts_with("eval_st") ||
        line.key == "eval_accuracy")
      CHECK(line.metadata.at("samples_count").is_number_integer());
  }
  CHECK(keys == job.keys());
  for (const char* once :
       {"init_stop", "run_start", "run_stop", "seed", "global_batch_size", "train_samples",
        "eval_samples", "gradient_accumulation_steps", "opt_name", "opt_base_learning_rate",
        "opt_gradient_clip_norm", "submission_division"}) {
    INFO(once);
    CHECK(count[once] == 1);
  }
  CHECK(keys.front() == "cache_clear");
  const auto at = [&](const char* key) { return std::ranges::find(keys, key) - keys.begin(); };
  CHECK(at("init_start") < at("init_stop"));
  CHECK(at("init_stop") < at("run_start"));
  CHECK(at("run_start") < at("block_start"));
  CHECK(at("block_stop") < at("eval_start"));
  CHECK(at("eval_stop") < at("eval_accuracy"));
  CHECK(lines.back().metadata.at("status") == "success");
  for (const MllogLine& line : lines) CHECK(line.metadata.at("file") == "training_log.cpp");
  for (const char* name : {"submission_org", "submission_platform"})
    CHECK(job.logged(name) == std::vector<Json>{"none: a benchctl twin, not a submission"});
  CHECK(job.logged("submission_benchmark").at(0).get<std::string>().starts_with("benchctl_llm_"));
}

TEST_CASE("lora trains its base before the clock starts, once", "[long]") {
  const TemporaryDirectory folder;
  const Json params = {{"workload", "lora"},
                       {"sequence", 8},
                       {"lanes", 2},
                       {"target", 5.0},
                       {"base_cache", folder.path().string()}};
  Json hash;
  for (const bool read : {false, true}) {
    TrainingJob job(params);
    CHECK(job.run().status == Status::ok);
    const Json facts = job.facts(), base = facts.at("base");
    CHECK(base.at("read") == read);
    CHECK(base.at("problem").is_null());
    CHECK((base.at("seconds") > 0.0) != read);
    if (read) CHECK(base.at("hash") == hash);
    hash = base.at("hash");
    CHECK(facts.at("baselines").at("unadapted base") == base.at("unadapted_gap"));
    CHECK(facts.at("parameters").get<int>() - facts.at("frozen_parameters").get<int>() == 3072);
    CHECK(facts.at("target_source") == "given");
    if (!read) CHECK(facts.at("init_seconds") < base.at("seconds"));
    CHECK(job.logged("lora_rank").at(0) == 4);
    CHECK(job.logged("lora_alpha").at(0) == 8);
    CHECK(job.logged("max_sequence_length").at(0) == 8);
  }
  TrainingJob throughput(Json{{"workload", "lora"}, {"steps", 2}, {"lanes", 2}});
  CHECK(throughput.run().status == Status::ok);
  CHECK(throughput.facts().at("base").is_null());
}

TEST_CASE("the logs of all workloads name the optimizer of their dense parameters") {
  for (const char* workload :
       {"llm", "lora", "dlrm", "two_tower", "hstu", "moe", "flow", "detect", "rgat", "grpo"}) {
    INFO(workload);
    TrainingJob job(Json{{"workload", workload},
                         {"steps", 1},
                         {"batch", 32},
                         {"lanes", 1},
                         {"base_cache", nullptr}});
    CHECK(job.run().status == Status::ok);
    const std::set<std::string> longer{"dlrm", "two_tower", "detect"};
    const double beta2 = longer.contains(workload) ? 0.99 : 0.98;
    CHECK(job.logged("opt_name") == std::vector<Json>{"adamw"});
    CHECK(job.logged("opt_adamw_beta_1") == std::vector<Json>{0.9});
    CHECK(job.logged("opt_adamw_beta_2") == std::vector<Json>{beta2});
    CHECK(job.logged("opt_adamw_epsilon") == std::vector<Json>{1e-8});
    const double decay = workload == std::string("detect") ? 0.1 : 0.0;
    CHECK(job.logged("opt_adamw_weight_decay") == std::vector<Json>{decay});
  }
}

TEST_CASE("rgat keeps its features where it is asked to, and claims no cleared cache", "[long]") {
  const TemporaryDirectory folder;
  const Json params = {{"workload", "rgat"},
                       {"steps", 1},
                       {"batch", 32},
                       {"lanes", 1},
                       {"base_cache", folder.path().string()}};
  TrainingJob job(params);
  CHECK(job.run().status == Status::ok);
  CHECK(job.logged("cache_clear") == std::vector<Json>{false});
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".features") file = entry.path();
  REQUIRE(std::filesystem::exists(file));
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  TrainingJob again(params);
  CHECK_THROWS_WITH(again.run(), Contains("bytes of features, but"));
}

TEST_CASE("the log of a residual network has SGD's options, that of a transformer AdamW's") {
  TrainingJob sgd(Json{{"workload", "image"}, {"steps", 1}, {"batch", 32}, {"lanes", 1}});
  CHECK(sgd.run().status == Status::ok);
  CHECK(sgd.logged("opt_name") == std::vector<Json>{"sgd"});
  CHECK(sgd.logged("sgd_opt_momentum") == std::vector<Json>{0.9});
  CHECK(sgd.logged("sgd_opt_weight_decay") == std::vector<Json>{1e-4});
  TrainingJob adamw(Json{
      {"workload", "image"}, {"preset", "tiny_vit"}, {"steps", 1}, {"batch", 32}, {"lanes", 1}});
  CHECK(adamw.run().status == Status::ok);
  CHECK(adamw.logged("opt_name") == std::vector<Json>{"adamw"});
}

TEST_CASE("routed experts are skipped on a device without their kernels, with the reason") {
  for (const std::string preset : {"tiny", "tiny_dense"}) {
    TrainingJob job(Json{{"workload", "moe"}, {"preset", preset}, {"steps", 1}, {"lanes", 1}});
    job.device.fake_kind = "cuda";
    const Outcome outcome = job.run();
    if (preset == "tiny_dense") {
      CHECK(outcome.status == Status::ok);
      continue;
    }
    CHECK(outcome.status == Status::skipped);
    CHECK_THAT(outcome.reason, Contains("no kernels of routed experts for GPUs"));
  }
  TrainingJob narrow(Json{{"workload", "moe"}, {"dtype", "bf16"}, {"steps", 1}, {"lanes", 1}});
  const Outcome outcome = narrow.run();
  CHECK(outcome.status == Status::skipped);
  CHECK_THAT(outcome.reason, Contains("no kernels of routed experts for bf16"));
}

TEST_CASE("the quality of a mixture of experts says how evenly its experts are used") {
  TrainingJob job(Json{{"workload", "moe"}, {"lanes", 2}, {"target", 1.5}});
  CHECK(job.run().status == Status::ok);
  const Json parts = job.facts().at("quality_parts");
  for (const char* part : {"base", "announcement", "expert_load_max_over_mean",
                           "expert_load_entropy", "dropped_share", "balance_loss"})
    CHECK(parts.contains(part));
  CHECK(parts.at("dropped_share") == 0.0);
}

TEST_CASE("the quality of rectified flow has a loss and a gap at each of eight times") {
  // Met by the first evaluation, whatever the model has learned.
  TrainingJob job(Json{{"workload", "flow"}, {"batch", 24}, {"lanes", 2}, {"target", 2.0}});
  CHECK(job.run().status == Status::ok);
  const Json parts = job.facts().at("quality_parts");
  CHECK(parts.size() == 16);
  double sum = 0.0;
  for (int time = 0; time < 8; ++time)
    sum += parts.at(fmt::format("gap_t{}_8", time)).get<double>() / 8.0;
  CHECK(job.one("quality").values.at(0) == Approx(sum));
  CHECK(job.logged("evaluation_frequency") == std::vector<Json>{2568});  // 107 steps
  CHECK(job.logged("averaged_validation_loss") == job.logged("eval_accuracy"));
}

TEST_CASE("a training by rewards reports its rollouts, and rewards are drawn without a base") {
  TrainingJob job(Json{{"workload", "grpo"}, {"steps", 4}, {"batch", 8}, {"lanes", 2}});
  CHECK(job.run().status == Status::ok);
  const Json breakdown = job.columns("breakdown");
  CHECK(breakdown.at("phase").at(1) == "rollout");
  CHECK(breakdown.at("seconds").at(1).get<double>() > 0.0);
  CHECK(job.logged("num_generations_per_prompt").at(0) == 8);
  CHECK(job.logged("num_prompts_per_step").at(0) == 8);
  CHECK(job.logged("global_batch_size").at(0) == 64);
  CHECK(job.logged("train_samples").at(0) == 4 * 64);
  TrainingJob without(Json{{"workload", "llm"}, {"steps", 2}, {"lanes", 2}});
  CHECK(without.run().status == Status::ok);
  CHECK(without.columns("breakdown").at("phase").at(1) == "transfer");
}

TEST_CASE("the quality of a detector is what its precision lacks of the true boxes'") {
  TrainingJob job(Json{{"workload", "detect"}, {"batch", 16}, {"lanes", 2}, {"target", 2.0}});
  CHECK(job.run().status == Status::ok);
  const Json parts = job.facts().at("quality_parts");
  for (const char* part : {"ap_50", "ap_75", "ap_large", "recall", "best_ap_50", "best_ap_75"})
    CHECK(parts.contains(part));
  const double precision = job.logged("eval_accuracy").at(0).get<double>();
  CHECK(job.one("quality").values.at(0) == Approx(0.656 - precision).margin(0.01));
}

TEST_CASE("the quality of a classifier is what its accuracy lacks of the true classes'") {
  TrainingJob job(Json{{"workload", "image"}, {"batch", 16}, {"lanes", 2}, {"target", 2.0}});
  CHECK(job.run().status == Status::ok);
  const Json parts = job.facts().at("quality_parts");
  for (const char* part : {"top_5", "true_class", "loss"}) CHECK(parts.contains(part));
  const double accuracy = job.logged("eval_accuracy").at(0).get<double>();
  CHECK(job.one("quality").values.at(0) == Approx(0.9140625 - accuracy));
}

TEST_CASE("a run resumed after its target reports that and repeats no unchecked result", "[long]") {
  const TemporaryDirectory folder;
  Json params = kToEasyTarget;
  params.update({{"checkpoint", folder.path().string()}, {"checkpoint_every", 1}});
  TrainingJob first(params);
  CHECK(first.run().status == Status::ok);
  params["resume"] = true;
  TrainingJob again(params);
  const Outcome outcome = again.run();
  CHECK(outcome.status == Status::skipped);
  const double samples = first.columns("curve").at("samples").back().get<double>();
  CHECK_THAT(outcome.reason,
             Contains(fmt::format("after step {:.0f} has met the target, with a "
                                  "gap of {:.4g} (target 1.5) after {:.0f} samples",
                                  samples / 32, first.one("quality").values.at(0), samples)));
  CHECK(again.of("time_to_target").empty());
}

TEST_CASE("the time to target of a resumed training is a series of its own", "[long]") {
  const TemporaryDirectory folder;
  Json params = kToEasyTarget;
  params.update({{"checkpoint", folder.path().string()}, {"checkpoint_every", 1}});
  TrainingJob first(params);
  CHECK(first.run().status == Status::ok);
  CHECK_FALSE(first.one("time_to_target").params.contains("resumed"));
  params.update({{"target", 1.0}, {"resume", true}});
  TrainingJob again(params);
  CHECK(again.run().status == Status::ok);
  CHECK(again.facts().at("resumed_from_step").get<int>() > 0);
  CHECK(again.one("time_to_target").params.at("resumed") == true);
}

TEST_CASE("a device without training kernels skips it, and a misspelt preset is an error") {
  TrainingJob job(Json::object());
  job.device.fake_training_kernels = nullptr;
  CHECK(job.run().status == Status::skipped);
  TrainingJob slip(Json{{"preset", "tinny"}});
  CHECK_THROWS_WITH(slip.run(), Contains("llm has no preset 'tinny'"));
}

}  // namespace bench
