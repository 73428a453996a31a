// suites/mlperf with a stand-in for docker and for the scripts that submit to Slurm: the command
// line of each template arrives at its training, whose log is read as it is written.
#include <sys/stat.h>

#include "core/locations.h"
#include "core/whole_file.h"
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
    const double target = params["target"].get<double>();
    const bool lower = params["direction"] == "lower";
    const std::string words =
        fmt::format("init seed start eval=100:{} eval=200:{} stop=success",
                    lower ? 2.0 * target : 0.5 * target, lower ? 0.99 * target : 1.01 * target);
    setenv("STAND_IN_WORDS", words.c_str(), 1);
    const Json argv = params["argv"];
    ExternalBench external({}, params);
    external.job.job.params["argv"] = argv;
    const Outcome outcome = external.run();
    INFO(outcome.reason);
    CHECK(to_string(outcome.status) == "ok");
    CHECK(external.series("samples_to_target").values == std::vector{200.0});
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
