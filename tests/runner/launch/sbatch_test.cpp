#include "runner/launch/sbatch.h"

#include <fstream>

#include "core/error.h"
#include "core/text.h"
#include "runner/hosts/inventory.h"
#include "runner/launch/program_output.h"
#include "runner/launch/slurm_allocation.h"
#include "runner/launch/srun.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// As a hosts file says it: the schema, the reader and the words together.
SlurmSettings settings(const std::string& slurm) {
  const std::string text = R"({"hosts": [{"name": "n[1-2]", "slots": 1}], "slurm": )" + slurm + "}";
  return inventory_from_json(Json::parse(text), "h.json").slurm;
}

std::string line(const std::vector<std::string>& words) { return " " + join(words, " ") + " "; }

std::string salloc(const std::string& slurm) {
  return line(salloc_command({"n1", "n2"}, settings(slurm), "x"));
}
std::string sbatch(const std::string& slurm) {
  return line(sbatch_command({"n1", "n2"}, settings(slurm), "x", "/r/log.txt", "/r/batch.sh"));
}
std::string srun(const std::string& slurm) {
  Job job;
  job.hosts = {"n1"};
  return line(srun_command(job, {{"n1", "n1", 1, 1, false}}, {"srun", "17", settings(slurm)}, "t"));
}

}  // namespace

TEST_CASE("each setting of an allocation reaches salloc and sbatch as the hosts file has it") {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  for (const auto& [slurm, word] :
       Pairs{{R"({"partition": "gpu"})", " --partition=gpu "},
             {R"({"account": "ops"})", " --account=ops "},
             {R"({"reservation": "accept"})", " --reservation=accept "},
             {R"({"time_limit": "2:00:00"})", " --time=2:00:00 "},
             {R"({"exclusive": true})", " --exclusive "},
             {R"({"gres": "gpu:8"})", " --gres=gpu:8 "},
             {R"({"allocation_args": ["--constraint=h100"]})", " --constraint=h100 "},
             {"{}", " --nodelist=n[1-2] "}}) {
    CAPTURE(word);
    CHECK_THAT(salloc(slurm), Contains(word));
    CHECK_THAT(sbatch(slurm), Contains(word));
  }
  CHECK_THAT(salloc(R"({"exclusive": false})"), !Contains("--exclusive"));
  CHECK_THAT(sbatch(R"({"exclusive": false})"), !Contains("--exclusive"));
}

TEST_CASE("each setting of a step reaches srun as the hosts file has it") {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  for (const auto& [slurm, word] :
       Pairs{{R"({"gres": "gpu:8"})", " --gres=gpu:8 "},
             {R"({"container_image": "/images/b.sqsh"})", " --container-image=/images/b.sqsh "},
             {R"({"container_mounts": ["/a:/a", "/b:/c:ro"]})",
              " --container-mounts=/a:/a,/b:/c:ro "},
             {R"({"args": ["--network=sharp"]})", " --network=sharp "}}) {
    CAPTURE(word);
    CHECK_THAT(srun(slurm), Contains(word));
  }
  Job two;
  two.hosts = {"n1"};
  two.ranks = 2;
  const SlurmSite site{"srun", "17", settings(R"({"mpi": "pmi2"})")};
  CHECK_THAT(line(srun_command(two, {{"n1", "n1", 2, 2, false}}, site, "t")),
             Contains(" --mpi=pmi2 "));
}

TEST_CASE("a batch job logs to the run's folder and is not requeued") {
  const auto words = sbatch_command({"n1"}, {}, "benchctl-r", "/a%j b/log.txt", "/a%j b/batch.sh");
  CHECK(words.front() == "sbatch");
  CHECK(words.back() == "/a%j b/batch.sh");
  CHECK_THAT(line(words), Contains(" --parsable ") && Contains(" --no-requeue ") &&
                              Contains(" --output=/a%%j b/log.txt "));
}

TEST_CASE("the batch script execs its command with unchanged arguments") {
  const TemporaryDirectory folder;
  const auto script = folder.path() / "batch.sh";
  std::ofstream(script) << batch_script({"printf", "%s|", "a b", "it's", "$(id)", "`id`;\n\"", ""});
  CHECK(program_output({"sh", script.string()}, Seconds{5.0}) == "a b|it's|$(id)|`id`;\n\"||");
}

TEST_CASE("the job ID is parsed, with or without a cluster name; other text is refused") {
  CHECK(submitted_job("17\n") == "17");
  CHECK(submitted_job("17;east\n") == "17");
  for (const char* text : {"", "\n", "Submitted batch job 17\n", "17x\n", "-1\n", "17 18\n"})
    CHECK_THROWS_AS(submitted_job(text), Error);
}
