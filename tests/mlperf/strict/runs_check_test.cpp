#include "mlperf/strict/runs_check.h"

#include <string>
#include <vector>

#include "core/whole_file.h"
#include "tests/mlperf/right_log.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

constexpr std::int64_t kDay = 86'400'000;

/// RunExtracts of logs in separate files.
class KeptRuns {
 public:
  void add(const RightLog& log, const std::string& name = {}) {
    const auto path = folder_.path() / (name.empty() ? std::to_string(kept.size()) : name);
    write_file(path, log.text());
    const Log read = read_log(path);
    kept.push_back(extract_run(read, facts_of(read)));
  }
  std::vector<RunExtract> kept;

 private:
  TemporaryDirectory folder_;
};

std::vector<const RunExtract*> run_pointers(const KeptRuns& runs) {
  std::vector<const RunExtract*> result;
  for (const RunExtract& run : runs.kept) result.push_back(&run);
  return result;
}

}  // namespace

TEST_CASE("runs of one result with different seeds pass") {
  KeptRuns runs;
  for (int i = 0; i < 3; ++i) runs.add(RightLog(1'760'000'000'000 + i * kDay, 100 + i));
  CHECK(check_runs(runs.kept).empty());
  CHECK(check_copies(runs.kept).empty());
  CHECK(check_overlaps(run_pointers(runs)).empty());
}

TEST_CASE("a seed at the same code location in two runs is reported for the second") {
  KeptRuns runs;
  runs.add(RightLog(1'760'000'000'000, 5));
  runs.add(RightLog(1'760'000'000'000 + kDay, 6));
  runs.add(RightLog(1'760'000'000'000 + 2 * kDay, 5));
  const std::vector<RunFinding> findings = check_runs(runs.kept);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].run == 2);
  CHECK(findings[0].finding.rule == "seed.repeated");
  CHECK(findings[0].finding.line == RightLog().number("seed"));
  CHECK(findings[0].finding.text.find("train.py:7") != std::string::npos);
}

TEST_CASE("the same seed from several ranks or another code location is not a repetition") {
  KeptRuns runs;
  RightLog ranks(1'760'000'000'000, 5);
  ranks.append(ranks.line("seed"));
  runs.add(ranks);
  RightLog other(1'760'000'000'000 + kDay, 6);
  other.line("seed").value = "5";
  other.line("seed").metadata = R"("lineno": 8)";
  runs.add(other);
  CHECK(check_runs(runs.kept).empty());
}

TEST_CASE("a run with different hyperparameters is reported") {
  KeptRuns runs;
  for (int i = 0; i < 4; ++i) {
    RightLog log(1'760'000'000'000 + i * kDay, 100 + i);
    if (i == 0) log.line("opt_base_learning_rate").value = "0.0009";
    if (i == 1) log.line("gradient_accumulation_steps").value = "2.0";
    runs.add(log);
  }
  const std::vector<RunFinding> findings = check_runs(runs.kept);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].run == 0);
  CHECK(findings[0].finding.rule == "runs.hyperparameters");
  CHECK(findings[0].finding.found == "0.0009");
  CHECK(findings[0].finding.line == RightLog().number("opt_base_learning_rate"));
}

TEST_CASE("identical files are copies, in one folder or in two") {
  KeptRuns runs;
  runs.add(RightLog(1'760'000'000'000, 5), "a/result_0.txt");
  runs.add(RightLog(1'760'000'000'000 + kDay, 6), "a/result_1.txt");
  runs.add(RightLog(1'760'000'000'000, 5), "b/result_0.txt");
  runs.add(RightLog(1'760'000'000'000, 5), "a/result_2.txt");
  const std::vector<RunFinding> findings = check_copies(runs.kept);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].run == 2);
  CHECK(findings[0].finding.text.find("two results") != std::string::npos);
  CHECK(findings[1].run == 3);
  CHECK(findings[1].finding.text.find("counted twice") != std::string::npos);
}

TEST_CASE("equal digests alone are not reported as copies") {
  KeptRuns runs;
  runs.add(RightLog(1'760'000'000'000, 5));
  runs.add(RightLog(1'760'000'000'000, 6));
  REQUIRE(runs.kept[0].bytes == runs.kept[1].bytes);
  runs.kept[1].digest = runs.kept[0].digest;
  CHECK(check_copies(runs.kept).empty());
}

TEST_CASE("runs that overlap in time are noted") {
  KeptRuns runs;
  runs.add(RightLog(1'760'000'000'000, 5));
  runs.add(RightLog(1'760'000'060'000, 6));
  runs.add(RightLog(1'760'000'000'000 + kDay, 7));
  const std::vector<RunFinding> findings = check_overlaps(run_pointers(runs));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].run == 1);
  CHECK(findings[0].finding.severity == Severity::note);
  CHECK(findings[0].finding.line == RightLog().number("run_start"));
}

}  // namespace bench::mlperf
