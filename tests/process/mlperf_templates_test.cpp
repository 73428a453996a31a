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

/// Takes what follows the image. A script in it that follows a log runs as it stands.
constexpr const char* kDocker = R"(#!/bin/bash
[ "$1" = run ] || exit 0
while [ $# -gt 0 ] && [ "$1" != stand-in-image ]; do
  case "$1" in --volume=*)
    mount="${1#--volume=}"
    [ -e "${mount%%:*}" ] || { echo "no $mount" >&2; exit 9; } ;;
  esac
  shift
done
shift || exit 8
if [ "$1 $2" = "bash -c" ]; then
  cd "$STAND_IN" && MLLOG_FILE="$STAND_IN/mllog.log" exec "$@"
fi
exec "$STAND_IN/training"
)";

class StandIn {
 public:
  StandIn() {
    write_program("training", "#!/bin/bash\nexec \"$FAKE_TRAINER\" $STAND_IN_WORDS\n");
    write_program("bin/docker", kDocker);
    write_program("run_llama31.sh", "\"$STAND_IN/training\" >> \"$MLLOG_FILE\"\n");
    for (const char* script : {"code/large_language_model_pretraining/nemo/run_llama31.sh",
                               "code/deepseekv3_671b/nemo/run_deepseek_v3_671b.sh"})
      write_program(script, "\"$STAND_IN/training\"\n");
    write_program("code/llm_moe_grpo/RL/docker/mlperf/submit_rcp.sh",
                  "#!/bin/bash\n[ \"$SBATCH_WAIT\" = 1 ] || exit 7\n"
                  "\"$STAND_IN/training\" >> \"$LOGDIR/1_mllog.log\"\n");
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
    params.update({{"image", "stand-in-image"}, {"code", path + "/code"}, {"data", path}});
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
    ++run;
  }
  CHECK(run == 11);
}
