#include "mlperf/log/run_facts.h"

#include <cmath>

#include "tests/mlperf/log_lines.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

RunFacts facts_in(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return facts_of(read_log_text(text, "x"));
}

const std::string kSuccess = R"({"status": "success"})";

}  // namespace

TEST_CASE("the run time is from run_start to run_stop in minutes") {
  const RunFacts facts = facts_in(
      {log_line("init_start", "null", "{}", 1000), log_line("init_stop", "null", "{}", 4000),
       log_line("run_start", "null", "{}", 5000), log_line("run_stop", "null", kSuccess, 65'000)});
  CHECK(facts.minutes == 1.0);
  CHECK(facts.init_start_ms == 1000.0);
  CHECK(facts.init_stop_ms == 4000.0);
  CHECK(facts.run_start_line == 3);
  CHECK(facts.run_stop_line == 4);
  CHECK(facts.status == "success");
}

TEST_CASE(
    "with several starts and stops, the second start and the first stop count, as in the official "
    "scorer") {
  const RunFacts facts =
      facts_in({log_line("run_start", "null", "{}", 0), log_line("run_start", "null", "{}", 60'000),
                log_line("run_stop", "null", kSuccess, 180'000),
                log_line("run_stop", "null", R"({"status": "aborted"})", 240'000)});
  CHECK(facts.minutes == 2.0);
  CHECK(facts.status == "aborted");  // the last run_stop decides
  const RunFacts early = facts_in({log_line("run_stop", "null", kSuccess, 60'000),
                                   log_line("run_stop", "null", kSuccess, 120'000),
                                   log_line("run_start", "null", "{}", 180'000),
                                   log_line("run_stop", "null", kSuccess, 360'000)});
  CHECK(early.minutes == -1.0);
}

TEST_CASE("a killed run has no time and no status") {
  const RunFacts facts = facts_in({log_line("run_start"), log_line("eval_accuracy", "3.5")});
  CHECK(facts.started);
  CHECK_FALSE(facts.stopped);
  CHECK(std::isnan(facts.minutes));
  CHECK(facts.status.empty());
  CHECK_FALSE(facts.last_before_stop.has_value());
  CHECK(facts.evaluations.size() == 1);
}

TEST_CASE("the last evaluation before the last run_stop gives the training length") {
  const RunFacts facts =
      facts_in({log_line("eval_accuracy", "3.5", R"({"samples_count": 12288})"),
                log_line("eval_error", "3.2", R"({"samples_count": 24576.0, "epoch_num": "2"})"),
                log_line("run_stop", "null", kSuccess),
                log_line("eval_accuracy", "3.1", R"({"samples_count": 36864})")});
  REQUIRE(facts.last_before_stop.has_value());
  CHECK(facts.last_before_stop->samples_count == 24576.0);
  CHECK_FALSE(facts.last_before_stop->epoch_num.has_value());
  CHECK(facts.last_before_stop->line == 2);
  CHECK(facts.evaluations.size() == 3);
}

TEST_CASE("submission fields come from the first line, the batch from the last") {
  const RunFacts facts = facts_in(
      {log_line("submission_benchmark", "\"flux1\""), log_line("submission_benchmark", "\"rgat\""),
       log_line("submission_org", "7"), log_line("submission_division", "\"closed\""),
       log_line("submission_platform", "\"p\""), log_line("submission_status", "\"cloud\""),
       log_line("global_batch_size", "512"), log_line("global_batch_size", "1024.0")});
  CHECK(facts.benchmark == "flux1");
  CHECK(facts.org.empty());
  CHECK(facts.division == "closed");
  CHECK(facts.platform == "p");
  CHECK(facts.submission_status == "cloud");
  CHECK(facts.global_batch_size == 1024.0);
}

TEST_CASE("a seed has the code location that logged it") {
  const RunFacts facts = facts_in({log_line("seed", "42", R"({"file": "t.py", "lineno": 7})"),
                                   log_line("seed", "\"a\"", R"({"file": 3})")});
  REQUIRE(facts.seeds.size() == 2);
  CHECK(facts.seeds[0].file == "t.py");
  CHECK(facts.seeds[0].code_line == "7");
  CHECK(facts.seeds[0].value.integer() == 42);
  CHECK(facts.seeds[0].has_place);
  CHECK(facts.seeds[1].file == "3");
  CHECK_FALSE(facts.seeds[1].has_place);
}

}  // namespace bench::mlperf
