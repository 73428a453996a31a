#include "mlperf/submission/submission.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/whole_file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

namespace fs = std::filesystem;

/// A round of one organisation: two systems, one of which has two benchmarks.
class RoundOfLogs {
 public:
  RoundOfLogs() {
    add("acme/results/sysA/llama31_8b/result_10.txt");
    add("acme/results/sysA/llama31_8b/result_2.txt");
    add("acme/results/sysA/llama31_8b/scaling.json");
    add("acme/results/sysA/llama31_8b/README.md");
    add("acme/results/sysA/flux1/result_0.txt");
    add("acme/results/sysB/flux1/result_0.txt");
    add("acme/systems/sysA.json");
  }
  void add(const std::string& name) { write_file(path(name), "x\n"); }
  fs::path path(const std::string& name = {}) const { return folder_.path() / name; }

 private:
  TemporaryDirectory folder_;
};

std::vector<std::string> file_names(const std::vector<fs::path>& paths) {
  std::vector<std::string> result;
  for (const fs::path& path : paths) result.push_back(path.filename().native());
  return result;
}

}  // namespace

TEST_CASE("names with numbers are sorted numerically") {
  CHECK(natural_less("result_2.txt", "result_10.txt"));
  CHECK_FALSE(natural_less("result_10.txt", "result_2.txt"));
  CHECK(natural_less("result_01.txt", "result_1.txt"));
  CHECK_FALSE(natural_less("result_1.txt", "result_01.txt"));
  CHECK(natural_less("9", "100000000000000000000000000000"));
  CHECK(natural_less("a", "a0"));
  CHECK_FALSE(natural_less("same7", "same7"));
}

TEST_CASE("a round is read as organisations, systems and benchmarks") {
  const RoundOfLogs round;
  const Submission found = find_submission(round.path());
  REQUIRE(found.entries.size() == 3);
  CHECK(found.loose.empty());
  const SubmissionEntry& entry = found.entries[1];
  CHECK(entry.submitter == "acme");
  CHECK(entry.system == "sysA");
  CHECK(entry.benchmark == "llama31_8b");
  CHECK(file_names(entry.logs) == std::vector<std::string>{"result_2.txt", "result_10.txt"});
  CHECK(entry.scaling_file == entry.folder / "scaling.json");
  CHECK(entry.system_file == round.path("acme/systems/sysA.json"));
  CHECK(found.entries[0].benchmark == "flux1");
  CHECK_FALSE(found.entries[0].scaling_file);
  CHECK_FALSE(found.entries[2].system_file);
}

TEST_CASE("a path to a lower level gives the same entries") {
  const RoundOfLogs round;
  const std::string level = GENERATE("acme", "acme/results", "acme/results/sysA",
                                     "acme/results/sysA/flux1", "acme/results/sysA/flux1/");
  const SubmissionEntry entry = find_submission(round.path(level)).entries.at(0);
  CHECK(entry.submitter == "acme");
  CHECK(entry.system == "sysA");
  CHECK(entry.benchmark == "flux1");
  CHECK(entry.system_file == round.path("acme/systems/sysA.json"));
}

TEST_CASE("without a 'results' folder, the folders below the path give the names") {
  RoundOfLogs round;
  round.add("mine/sysC/rgat/result_1.txt");
  const SubmissionEntry benchmark = find_submission(round.path("mine/sysC/rgat")).entries.at(0);
  CHECK(benchmark.benchmark == "rgat");
  CHECK(benchmark.system.empty());
  const SubmissionEntry system = find_submission(round.path("mine/sysC")).entries.at(0);
  CHECK(system.system == "sysC");
  CHECK(system.submitter.empty());
  const SubmissionEntry whole = find_submission(round.path("mine")).entries.at(0);
  CHECK(whole.submitter == "mine");
}

TEST_CASE("a single log, and the files of a folder without results, are read individually") {
  RoundOfLogs round;
  const fs::path log = round.path("acme/results/sysB/flux1/result_0.txt");
  CHECK(find_submission(log).loose == std::vector<fs::path>{log});
  round.add("logs/b10.log");
  round.add("logs/b9.log");
  round.add("logs/.hidden");
  const Submission folder = find_submission(round.path("logs"));
  CHECK(folder.entries.empty());
  CHECK(file_names(folder.loose) == std::vector<std::string>{"b9.log", "b10.log"});
}

TEST_CASE("an empty benchmark folder is reported if others have results") {
  RoundOfLogs round;
  round.add("acme/results/sysB/rgat/run1.log");
  const Submission found = find_submission(round.path());
  CHECK(found.entries.size() == 3);
  CHECK(found.without == std::vector<fs::path>{round.path("acme/results/sysB/rgat")});
}

TEST_CASE("circular links end, and special files are skipped") {
  const RoundOfLogs round;
  fs::create_directory_symlink(round.path("acme"), round.path("acme/results/again"));
  fs::create_symlink(round.path("nowhere"), round.path("acme/results/sysA/flux1/result_7.txt"));
  REQUIRE(mkfifo(round.path("acme/results/sysA/flux1/result_8.txt").c_str(), 0600) == 0);
  const Submission found = find_submission(round.path());
  REQUIRE(found.entries.size() == 3);
  CHECK(file_names(found.entries[0].logs) == std::vector<std::string>{"result_0.txt"});
}

TEST_CASE("a path without logs is reported with the nearest name") {
  const RoundOfLogs round;
  fs::create_directory(round.path("empty"));
  CHECK_THROWS_WITH(find_submission(round.path("empty")),
                    Catch::Contains("empty: contains no files"));
  CHECK_THROWS_WITH(find_submission(round.path("acne")),
                    Catch::Contains("acne: no such file or folder. Did you mean 'acme'?"));
  CHECK_THROWS_AS(find_submission("/dev/null"), Error);
}

}  // namespace bench::mlperf
