// suites/mlperf with a stand-in for docker and for the scripts that submit to Slurm: the command
// line of each template arrives at its training, whose log is read as it is written.
#include <fmt/format.h>
#include <sys/stat.h>

#include <map>

#include "core/locations.h"
#include "core/whole_file.h"
#include "mlperf/check/check.h"
#include "mlperf/check/check_report.h"
#include "mlperf/rules/rule_set.h"
#include "mlperf/submission/submission.h"
#include "runner/plan/suite.h"
#include "tests/process/external_bench.h"
#include "tests/process/program.h"

using namespace bench;

namespace {

namespace fs = std::filesystem;

/// Takes what follows the image, with the variables that docker is told to pass. A script in it
/// that follows a log runs as it stands; of others the name must be known.
constexpr const char* kDocker = R"(#!/bin/bash
[ "$1" = run ] || exit 0
passed=(STAND_IN="$STAND_IN" STAND_IN_WORDS="$STAND_IN_WORDS" FAKE_TRAINER="$FAKE_TRAINER" PATH="$PATH")
while [ $# -gt 0 ] && [ "$1" != stand-in-image ]; do
  case "$1" in
    --volume=*)
      mount="${1#--volume=}"
      [ -e "${mount%%:*}" ] || { echo "no $mount" >&2; exit 9; } ;;
    --env=*) name="${1#--env=}"; [ -z "${!name+set}" ] || passed+=("$name=${!name}") ;;
  esac
  shift
done
shift || exit 8
if [ "$1 $2" = "bash -c" ]; then
  cd "$STAND_IN" && exec env -i "${passed[@]}" MLLOG_FILE="$STAND_IN/mllog.log" "$@"
fi
exec env -i "${passed[@]}" "$STAND_IN/training" "$@"
)";

/// The seed comes as an option or as a variable.
constexpr const char* kTraining = R"(#!/bin/bash
case "$*" in
  "" | *torchtitan.experiments.flux.train* | *" train.py "* | *" dlrm_main.py "* | *" scripts/train.py "*) ;;
  *train_rgnn_multi_gpu.py* | "bash /workspace/code/run_and_time.sh" | "bash /workspace/recommendation/run_and_time.sh") ;;
  *) echo "not a known training: $*" >&2; exit 6 ;;
esac
seed="${SEED:-${SEEDS:-}}"
[[ " $* " =~ seed(-base)?[=\ ]([0-9]+) ]] && seed="${BASH_REMATCH[2]}"
BENCH_SEED="${seed:?no seed arrived}" exec "$FAKE_TRAINER" $STAND_IN_WORDS
)";

// What references log that rule set 6.1 has rules for, as KEY:VALUE. The batch comes first, because
// rates are checked against it; spaces are escaped, because the words are split at them.

constexpr std::string_view kDisclosed =
    " point=submission_org:\"Acme\" point=submission_division:\"closed\""
    " point=submission_status:\"onprem\" point=submission_platform:\"8xX1\""
    " point=lowest_numerical_precision_in_linear:\"fp8\""
    " point=lowest_numerical_precision_in_attn:\"bfloat16\""
    " point=lowest_numerical_precision_in_comm:\"bfloat16\" point=tensor_parallelism:1"
    " point=pipeline_parallelism:1 point=context_parallelism:1 point=expert_parallelism:1"
    " point=micro_batch_size:1 point=config_filename:\"a.sh\" point=gradient_accumulation_steps:1";

constexpr std::string_view kPretraining =
    " point=opt_name:\"adamw\" point=opt_adamw_beta_1:0.9 point=opt_adamw_beta_2:0.95"
    " point=opt_adamw_weight_decay:0.1 point=opt_gradient_clip_norm:1.0 point=eval_samples:1024"
    " point=train_samples:1574207408 point=max_steps:1200000"
    " point=opt_learning_rate_decay_schedule:\"cosine\\u0020with\\u0020linear\\u0020warmup\"";

struct ReferenceLog {
  std::string words = {};
  int first = 100, second = 200;  // samples at the two evaluations
};

/// Other benchmarks log nothing of their own.
const std::map<std::string, ReferenceLog> kReferences = {
    {"gpt_oss_20b",
     {" point=global_batch_size:16" + std::string(kPretraining) +
          " point=max_sequence_length:8192 point=opt_base_learning_rate:0.0004"
          " point=opt_end_learning_rate:4e-05 point=opt_adamw_epsilon:1e-05"
          " point=opt_learning_rate_warmup_steps:128 point=opt_learning_rate_decay_steps:1199872",
      12288, 24576}},
    {"deepseekv3_671b",
     {" point=global_batch_size:16384" + std::string(kPretraining) +
          " point=max_sequence_length:4096 point=opt_base_learning_rate:2.4e-05"
          " point=opt_end_learning_rate:1e-08 point=opt_adamw_epsilon:1e-08"
          " point=opt_learning_rate_warmup_steps:4 point=opt_learning_rate_decay_steps:11996"
          " point=moe_aux_loss_coeff:0.01",
      43 * 16384, 44 * 16384}},
    {"dlrmv4",
     {" point=global_batch_size:8192 point=train_samples:2290835423 point=eval_samples:2058204"
      " point=max_sequence_length:4096 point=opt_name:\"Adam\" point=opt_base_learning_rate:1e-06"
      " point=opt_adam_beta_1:0.95 point=opt_adam_beta_2:0.999 point=opt_adam_epsilon:1e-08"
      " point=opt_weight_decay:0.0 point=opt_gradient_clip_norm:1.0"
      " point=opt_sparse_name:\"RowWiseAdagrad\" point=opt_sparse_base_learning_rate:1e-06"
      " point=opt_learning_rate_warmup_steps:24000 point=opt_learning_rate_warmup_start_lr:0.0"
      " point=eval_every_data_pct:0.001",
      25 * 280 * 8192, 26 * 280 * 8192}},
    {"qwen35_397b_grpo",
     {" point=global_batch_size:256 point=max_sequence_length:65536 point=train_samples:13296"
      " point=eval_samples:251 point=init_checkpoint_step:0 point=max_steps:30"
      " point=opt_name:\"adamw\" point=opt_base_learning_rate:1e-06 point=opt_adamw_beta_1:0.9"
      " point=opt_adamw_beta_2:0.999 point=opt_adamw_epsilon:1e-08"
      " point=opt_adamw_weight_decay:0.0 point=opt_gradient_clip_norm:0.125"
      " point=opt_learning_rate_warmup_steps:0"
      " point=opt_learning_rate_decay_schedule:\"constant\""
      " point=generation_training_rollout_temperature:1.0"
      " point=generation_training_rollout_top_p:1.0"
      " point=generation_validation_rollout_temperature:0.1"
      " point=generation_validation_rollout_top_p:0.95 point=num_prompts_per_step:16"
      " point=num_generations_per_prompt:16",
      18 * 256, 19 * 256}}};

/// The words of the stand-in for a training that reaches its target at the second evaluation.
std::string training_words(const Json& params) {
  const std::string benchmark = params["benchmark"];
  const double target = params["target"];
  const bool lower = params["direction"] == "lower";
  const auto reference = kReferences.find(benchmark);
  const bool known = reference != kReferences.end();
  const ReferenceLog log = known ? reference->second : ReferenceLog();
  return fmt::format("{}init{} seed start eval={}:{} eval={}:{} stop=success",
                     known ? "point=cache_clear:true " : "",
                     known ? fmt::format(" point=submission_benchmark:\"{}\"{}{}", benchmark,
                                         kDisclosed, log.words)
                           : "",
                     log.first, lower ? 2.0 * target : 0.5 * target, log.second,
                     lower ? 0.99 * target : 1.01 * target);
}

/// The run's own copy of the log passes `mlperf check`.
void check_kept_log(const std::string& log) {
  const TemporaryDirectory folder;
  write_file(folder.path() / "run.log", log);
  const mlperf::CheckReport report =
      mlperf::check_submission(mlperf::find_submission(folder.path() / "run.log"),
                               {.rule_sets = mlperf::rule_set_folder(), .rule_set = "6.1.0"});
  INFO(dump(to_json(report)));
  CHECK(report.files.at(0).pass);
  CHECK(passed(report));
}

class StandIn {
 public:
  StandIn() {
    write_program("training", kTraining);
    write_program("bin/scancel", "#!/bin/bash\n");
    write_program("bin/docker", kDocker);
    write_program("run_llama31.sh", "\"$STAND_IN/training\" >> \"$MLLOG_FILE\"\n");
    for (const char* script : {"code/large_language_model_pretraining/nemo/run_llama31.sh",
                               "code/deepseekv3_671b/nemo/run_deepseek_v3_671b.sh"})
      write_program(script, "\"$STAND_IN/training\"\n");
    write_program("code/llm_moe_grpo/RL/docker/mlperf/submit_rcp.sh",
                  "#!/bin/bash\n[ \"$SBATCH_WAIT\" = 1 ] || exit 7\n"
                  "while [ $# -gt 1 ] && [ \"$1\" != --seed-base ]; do shift; done\n"
                  "SEED=\"$2\" \"$STAND_IN/training\" >> \"$LOGDIR/1_mllog.log\"\n");
    fs::create_directories(path() / "code/gpt_oss_20b/primus");
    setenv("PATH", ((path() / "bin").string() + ":" + search_path_).c_str(), 1);
    setenv("STAND_IN", path().c_str(), 1);
    setenv("FAKE_TRAINER", beside("fake_trainer").c_str(), 1);
  }

  ~StandIn() {
    setenv("PATH", search_path_.c_str(), 1);
    for (const char* name : {"STAND_IN", "STAND_IN_WORDS", "FAKE_TRAINER"}) unsetenv(name);
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  const fs::path& path() const { return folder_.path(); }

 private:
  void write_program(const std::string& name, const std::string& text) {
    write_file(path() / name, text);
    REQUIRE(chmod((path() / name).c_str(), 0755) == 0);
  }

  TemporaryDirectory folder_;
  std::string search_path_ = environment_variable("PATH");
};

}  // namespace

TEST_CASE("the description of every MLPerf template names the newest round that has it") {
  const mlperf::RuleSet newest = mlperf::load_rule_set(mlperf::rule_set_folder(), "6.1.0");
  for (const fs::path& file : all_suites()) {
    if (!suite_name(file).starts_with("mlperf/")) continue;
    INFO(file.string());
    const Json suite = read_json(file);
    const std::string benchmark = suite["cases"][0]["params"]["benchmark"];
    CHECK_THAT(suite["description"].get<std::string>(),
               Catch::Contains(newest.benchmarks.contains(benchmark) ? "v6.1" : "retired after"));
  }
}

TEST_CASE("the command of every MLPerf template reaches its training and follows its log") {
  const StandIn stand_in;
  const std::string path = stand_in.path().string();
  std::size_t run = 0;
  for (const fs::path& file : all_suites()) {
    if (!suite_name(file).starts_with("mlperf/")) continue;
    INFO(file.string());
    Json params = read_json(file)["cases"][0]["params"];
    params.emplace("environment", Json::object());
    params.update({{"image", "stand-in-image"}, {"code", path + "/code"}, {"data", path}});
    if (params["environment"].contains("FLUSH_S")) params["environment"]["FLUSH_S"] = "1";
    if (params.contains("variables"))
      for (Json& variable : params["variables"])
        if (variable == "") variable = path;
    const auto reference = kReferences.find(params["benchmark"]);
    setenv("STAND_IN_WORDS", training_words(params).c_str(), 1);
    const Json argv = params["argv"];
    ExternalBench external({}, params);
    external.job.job.params.own()["argv"] = argv;
    const Outcome outcome = external.run();
    INFO(outcome.reason);
    CHECK(to_string(outcome.status) == "ok");
    CHECK(external.series("samples_to_target").values ==
          std::vector<double>{reference == kReferences.end() ? 200.0 : reference->second.second});
    if (reference != kReferences.end()) check_kept_log(external.log());
    CHECK(external.facts().at("workload") == params["benchmark"]);
    CHECK(external.facts().at("seed") == external.job.job.seed);
    if (argv[0] == "docker")
      for (const auto& [name, value] : params["environment"].items()) {
        INFO(name);
        CHECK(std::ranges::find(argv, Json("--env=" + name)) != argv.end());
      }
    ++run;
  }
  CHECK(run == 11);
}
