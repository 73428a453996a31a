// A night's batch jobs, with programs that play Slurm.
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include "core/json.h"
#include "runner/nightly/node_batches.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
namespace fs = std::filesystem;

namespace {

/// sbatch that begins the job of node1 and leaves that of node2 waiting, until scancel.
class PlayedSlurm {
 public:
  PlayedSlurm() : path_(getenv("PATH")) {
    const std::string here = folder.path().string();
    script("sbatch", "echo \"$@\" >> " + here +
                         "/words\n"
                         "for script; do :; done\n"
                         "case \"$*\" in *nodelist=node1*) echo '{}' > \"$(dirname "
                         "\"$script\")/records.jsonl\"; "
                         "echo 41;; *) echo 42;; esac\n");
    script("squeue", "test -e " + here + "/cancelled || echo 42\necho 7\n");
    script("scancel", "echo \"$@\" > " + here + "/cancelled\n");
    setenv("PATH", (here + ":" + path_).c_str(), 1);
  }
  ~PlayedSlurm() { setenv("PATH", path_.c_str(), 1); }
  PlayedSlurm(const PlayedSlurm&) = delete;
  PlayedSlurm& operator=(const PlayedSlurm&) = delete;

  TemporaryDirectory folder;

 private:
  void script(const std::string& name, const std::string& text) const {
    const auto file = folder.path() / name;
    std::ofstream(file) << "#!/bin/sh\n" << text;
    chmod(file.c_str(), 0755);
  }
  std::string path_;
};

PlanEntry night_entry(const std::string& host) {
  PlanEntry entry;
  entry.job.id = host;
  entry.job.case_name = "gemm";
  entry.job.probe = "null";
  entry.job.hosts = {host};
  entry.places.emplace_back().host = host;
  return entry;
}

}  // namespace

TEST_CASE("batch jobs that Slurm did not begin in time are cancelled, and their nodes named") {
  const PlayedSlurm slurm;
  RunRequest night;
  night.plan.suite.name = "night";
  night.plan.inventory.hosts = {Host{"node1", "node1", 1, {}, {}},
                                Host{"node2", "node2", 1, {}, {}}};
  night.plan.entries = {night_entry("node1"), night_entry("node2")};
  night.runs = slurm.folder.path() / "runs";
  night.style = Progress::Style::silent;
  const NodeBatches done = run_on_nodes(night, {"benchctl", "resume"}, after(Seconds{0.1}));
  REQUIRE(done.runs.size() == 1);
  CHECK(fs::exists(done.runs[0] / "batch.sh"));
  CHECK(done.waiting == std::vector<std::string>{"node2"});
  CHECK_FALSE(done.interrupted);
  std::size_t folders = 0;
  for (const auto& run : fs::directory_iterator(night.runs)) folders += run.is_directory() ? 1 : 0;
  CHECK(folders == 1);
  CHECK(read_file(slurm.folder.path() / "cancelled") == "41 42\n");
  const std::string words = read_file(slurm.folder.path() / "words");
  CHECK(words.find("--nice=10000") != std::string::npos);
  CHECK(words.find("--no-requeue") != std::string::npos);
}
