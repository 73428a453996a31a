#include "mlperf/check/check.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/whole_file.h"
#include "mlperf/rules/rule_set.h"
#include "tests/mlperf/right_log.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

class AcmeSubmission {
 public:
  void add(const std::string& name, const RightLog& log) { write(name, log.text()); }
  void write(const std::string& name, const std::string& text) {
    write_file(folder_.path() / "Acme" / name, text);
  }
  CheckReport check(CheckOptions options = {}) const {
    options.rule_sets = rule_set_folder();
    return check_submission(find_submission(folder_.path()), options);
  }

 private:
  TemporaryDirectory folder_;
};

RightLog acme_run(int number) {
  return RightLog(1'760'000'000'000 + number * 86'400'000LL, number);
}

/// Ignores runs.count, because most of these submissions have too few runs.
std::vector<std::string> reported_rules(const CheckReport& report) {
  std::vector<std::string> rules;
  for (const FileCheck& file : report.files)
    for (const Finding& finding : file.findings) rules.push_back(finding.rule);
  for (const FolderCheck& folder : report.folders)
    for (const Finding& finding : folder.findings) rules.push_back(finding.rule);
  std::erase(rules, "runs.count");
  return rules;
}

}  // namespace

TEST_CASE("a valid submission passes without findings, in run order") {
  AcmeSubmission acme;
  for (const int i : {0, 1, 10, 2})
    acme.add(fmt::format("results/s/llama31_8b/result_{}.txt", i), acme_run(i));
  const CheckReport report = acme.check();
  CHECK(reported_rules(report).empty());
  CHECK(passed(report));
  REQUIRE(report.files.size() == 4);
  CHECK(report.files[3].path.filename() == "result_10.txt");
  CHECK(report.files[3].rule_set == "5.1.0");
  CHECK_FALSE(report.files[3].rule_set_reason.empty());
  CHECK(report.folders[0].submitter == "Acme");
  CHECK(report.files[0].minutes == Approx(5.5).margin(0.2));
}

TEST_CASE("the official and the strict verdict are separate") {
  AcmeSubmission acme;
  RightLog aborted = acme_run(0);
  aborted.line("run_stop").metadata = R"("status": "aborted")";
  acme.add("results/s/llama31_8b/result_0.txt", aborted);
  const CheckReport strict = acme.check();
  CHECK(strict.files[0].pass);
  CHECK(reported_rules(strict) == std::vector<std::string>{"status.run_stop"});
  CHECK_FALSE(passed(strict));
  const CheckReport compat = acme.check({.strict = false});
  CHECK(reported_rules(compat).empty());
  CHECK(passed(compat));
}

TEST_CASE("an official failure is reported with its line, next to strict findings") {
  AcmeSubmission acme;
  RightLog log = acme_run(0);
  log.line("opt_adamw_beta_1").value = "0.8";
  log.line("submission_org").value = "\"Somebody\"";
  acme.add("results/s/llama31_8b/result_0.txt", log);
  const CheckReport report = acme.check();
  REQUIRE(report.files[0].findings.size() == 2);
  CHECK_FALSE(report.files[0].pass);
  CHECK(report.files[0].findings[0].rule == "identity.organisation");
  CHECK(report.files[0].findings[1].official);
  CHECK(report.files[0].findings[1].line == log.number("opt_adamw_beta_1"));
}

TEST_CASE("copies are found across a round and reported for their own result") {
  AcmeSubmission acme;
  acme.add("results/s/llama31_8b/result_0.txt", acme_run(0));
  acme.add("results/s/llama31_8b/result_1.txt", acme_run(1));
  acme.add("results/t/llama31_8b/result_0.txt", acme_run(1));
  const CheckReport report = acme.check();
  CHECK(reported_rules(report) == std::vector<std::string>{"copy.log"});
  REQUIRE(report.files[2].findings.size() == 1);
  CHECK(report.files[2].findings[0].found.find("s/llama31_8b/result_1.txt") != std::string::npos);
}

TEST_CASE("copies among logs outside the layout are a warning") {
  AcmeSubmission acme;
  acme.add("a.log", acme_run(0));
  acme.add("b.log", acme_run(0));
  const CheckReport report = acme.check();
  CHECK(reported_rules(report) == std::vector<std::string>{"copy.log"});
  CHECK(passed(report));
}

TEST_CASE("concurrent runs of two benchmarks are noted on one system, not on two") {
  AcmeSubmission acme;
  acme.add("results/s/llama31_8b/result_0.txt", acme_run(0));
  acme.add("results/s/other/result_0.txt", RightLog(1'760'000'001'000, 8));
  acme.add("results/t/llama31_8b/result_0.txt", RightLog(1'760'000'002'000, 9));
  const CheckReport report = acme.check();
  CHECK(reported_rules(report) == std::vector<std::string>{"runs.overlap"});
  CHECK(passed(report));
}

TEST_CASE("batch factors are checked against the system description") {
  AcmeSubmission acme;
  RightLog log = acme_run(0);
  log.append({.key = "local_batch_size", .value = "2", .time = "1760000000000"});
  acme.add("results/s/llama31_8b/result_0.txt", log);
  acme.write("systems/s.json", R"({"number_of_nodes": "1", "accelerators_per_node": "8"})");
  CHECK(reported_rules(acme.check()).empty());
  acme.write("systems/s.json", R"({"number_of_nodes": "2", "accelerators_per_node": 8})");
  CHECK(reported_rules(acme.check()) == std::vector<std::string>{"batch.factors"});
  acme.write("systems/s.json", R"({"number_of_nodes": ["2"]})");
  CHECK(reported_rules(acme.check()).empty());
}

TEST_CASE("an empty benchmark folder is reported next to those with results") {
  AcmeSubmission acme;
  acme.add("results/s/llama31_8b/result_0.txt", acme_run(0));
  acme.add("results/s/flux1/log.txt", acme_run(1));
  const CheckReport report = acme.check();
  CHECK(report.files.size() == 1);
  CHECK(reported_rules(report) == std::vector<std::string>{"folder.empty"});
  CHECK(passed(report));
}

TEST_CASE("resubmitted runs of an earlier round are checked against the newer round") {
  AcmeSubmission acme;
  RightLog old(1'740'000'000'000, 1);
  old.line("submission_benchmark").value = "\"retinanet\"";
  acme.add("results/s/retinanet/result_0.txt", old);
  CHECK(acme.check().files[0].rule_set == "5.0.0");
  acme.add("results/t/llama31_8b/result_0.txt", acme_run(0));
  const CheckReport report = acme.check();
  CHECK(report.files[0].rule_set == "5.1.0");
  CHECK(report.files[0].rule_set_reason ==
        "the only round with all benchmarks in these folders: Training v5.1");
}

TEST_CASE("a run newer than the only rules of its benchmark, or than those asked for, says so") {
  AcmeSubmission acme;
  RightLog log(1'800'000'000'000, 1);
  log.line("submission_benchmark").value = "\"dlrmv4\"";
  acme.add("results/s/dlrmv4/result_0.txt", log);
  const std::string newer =
      "; the run is newer than these rules, which are those of mlperf_logging 4.1.68 (2026-10-24)";
  CHECK(acme.check().files[0].rule_set_reason ==
        "the only round with all benchmarks in these folders: Training v6.1" + newer);
  CHECK(acme.check({.rule_set = "6.1.0"}).files[0].rule_set_reason ==
        "selected by --ruleset" + newer);
}

TEST_CASE("runs of two rounds with the same benchmarks use the newer one") {
  AcmeSubmission acme;
  for (const char* system : {"s", "t"}) {
    RightLog log(system[0] == 's' ? 1'740'000'000'000 : 1'760'000'000'000, 1);
    log.line("submission_benchmark").value = "\"llama2_70b_lora\"";
    acme.add(std::string("results/") + system + "/llama2_70b_lora/result_0.txt", log);
  }
  const CheckReport report = acme.check();
  CHECK(report.files[0].rule_set == "5.1.0");
  CHECK(
      report.files[0].rule_set_reason ==
      "submitted together with runs of Training v5.1; on its own, the log would be checked against "
      "5.0.0");
}

TEST_CASE("a torn log does not move the others to a newer round") {
  AcmeSubmission acme;
  acme.add("results/s/llama31_8b/result_0.txt", acme_run(0));
  acme.write("results/s/llama31_8b/result_1.txt", "no line of MLPerf\n");
  const CheckReport report = acme.check();
  CHECK(report.files[0].rule_set == "5.1.0");
  CHECK(report.files[0].pass);
  CHECK_FALSE(report.files[1].pass);
}

TEST_CASE("a result with a wrong number of runs is reported") {
  AcmeSubmission acme;
  for (int i = 0; i < 9; ++i)
    acme.add(fmt::format("results/s/llama31_8b/result_{}.txt", i), acme_run(i));
  const CheckReport nine = acme.check();
  REQUIRE(nine.folders[0].findings.size() == 1);
  CHECK(nine.folders[0].findings[0].rule == "runs.count");
  CHECK(nine.folders[0].findings[0].expected == "10 runs");
  CHECK(passed(nine));
  acme.add("results/s/llama31_8b/result_9.txt", acme_run(9));
  CHECK(acme.check().folders[0].findings.empty());
}

TEST_CASE("a wrong or missing scaling factor is reported") {
  AcmeSubmission acme;
  for (int i = 0; i < 10; ++i)  // a little faster than the reference
    acme.add(fmt::format("results/s/llama31_8b/result_{}.txt", i),
             RightLog(1'760'000'000'000 + i * 86'400'000LL, i, i < 6 ? 14 : 15));
  const auto findings = [&] { return acme.check().folders[0].findings; };
  REQUIRE(findings().size() == 1);
  CHECK(findings()[0].rule == "scaling.file");
  CHECK(findings()[0].found == "no scaling.json");
  CHECK_THAT(findings()[0].text, Catch::Contains("without a factor") && !Catch::Contains("stale"));
  const std::string factor = findings()[0].expected;
  CHECK(std::stod(factor) == Approx(1.0126).margin(2e-4));
  const std::string file = "results/s/llama31_8b/scaling.json";
  acme.write(file, "{\"scaling_factor\": " + factor + "}");
  CHECK(findings().empty());
  acme.write(file, R"({"scaling_factor": 1.02})");
  REQUIRE(findings().size() == 1);
  CHECK(findings()[0].found == "1.02");
  CHECK_THAT(findings()[0].text, Catch::Contains("the file is stale"));
  acme.write(file, R"({"scaling_factor": "1.02"})");
  REQUIRE(findings().size() == 1);
  CHECK(findings()[0].text == "cannot read scaling.json");
}

TEST_CASE("an unknown rule set is rejected with the known ones") {
  AcmeSubmission acme;
  acme.add("results/s/llama31_8b/result_0.txt", acme_run(0));
  CHECK_THROWS_AS(acme.check({.rule_set = "9.9.9"}), Error);
  CHECK(acme.check({.rule_set = "6.0.0"}).files[0].rule_set == "6.0.0");
}

}  // namespace bench::mlperf
