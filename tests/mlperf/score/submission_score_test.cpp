#include "mlperf/score/submission_score.h"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/whole_file.h"
#include "mlperf/check/check.h"
#include "mlperf/rules/rule_set.h"
#include "results/output/document/terminal.h"
#include "results/output/mlperf/score_output.h"
#include "tests/mlperf/training_log.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kOctober2025 = 1'759'800'000'000;
constexpr std::int64_t kMarch2025 = 1'741'000'000'000;
constexpr std::int64_t kMinuteMs = 60'000;

/// A LoRA run at batch 8, whose reference mean is 3,178.67 samples.
std::string lora_text(int minutes, int samples, std::int64_t begin = kOctober2025) {
  TrainingLog log = lora_log();
  const std::string count = "{\"samples_count\": " + std::to_string(samples) + "}";
  log.set("init_start", "null", "", begin);
  log.set("init_stop", "null", "", begin + 1);
  log.set("run_start", "null", "", begin + 2);
  log.set("eval_accuracy", "0.92", count);
  log.set("run_stop", "null", "", begin + 2 + minutes * kMinuteMs);
  return log.text();
}

/// The official checker warns of it.
std::string with_line_twice(std::string text, const std::string& key) {
  const std::size_t begin = text.rfind('\n', text.find(key)) + 1;
  const std::string line = text.substr(begin, text.find('\n', begin) + 1 - begin);
  return text.insert(begin, line);
}

class LoraRound {
 public:
  /// Runs of 1 to `count` minutes, each an hour after the last.
  explicit LoraRound(int count = 10, int samples = 3168) {
    for (int run = 1; run <= count; ++run)
      write_file(entry() / ("result_" + std::to_string(run) + ".txt"),
                 lora_text(run, samples, kOctober2025 + run * 60 * kMinuteMs));
    write_file(folder_.path() / "acme/systems/sys.json",
               R"({"division": "closed", "status": "Available on-premise", "system_name": "S",
                   "number_of_nodes": "2", "accelerators_per_node": 4})");
  }
  fs::path entry() const { return folder_.path() / "acme/results/sys/llama2_70b_lora"; }
  fs::path root() const { return folder_.path(); }
  EntryScore scored(const std::string& ruleset = "auto") const {
    return score(ruleset).entries.at(0);
  }
  SubmissionScore score(const std::string& ruleset = "auto") const {
    SubmissionScoreSettings settings;
    settings.ruleset = ruleset;
    return score_submission(find_submission(root()), settings);
  }

 private:
  TemporaryDirectory folder_;
};

std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& file : fs::recursive_directory_iterator(folder))
    if (file.is_regular_file()) contents[file.path()] = read_file(file.path());
  return contents;
}

}  // namespace

TEST_CASE("ten logs are scored, and nothing is written next to them") {
  const LoraRound round;
  const auto before = contents_of(round.root());
  const SubmissionScore score = round.score();
  CHECK(contents_of(round.root()) == before);
  REQUIRE(score.entries.size() == 1);
  const EntryScore& entry = score.entries[0];
  INFO(to_terminal(to_document(score, true), {}));
  CHECK(entry.valid());
  CHECK(entry.submitter == "acme");
  CHECK(entry.olympic_mean_minutes == 5.5);
  CHECK(entry.rcp->mean == 3168);
  CHECK(entry.score_minutes == Approx(5.5 * (9536.0 / 3) / 3168).epsilon(1e-12));
  CHECK(score.exit_code == ExitCode::ok);
  CHECK(score.systems.at(0).description->accelerators() == 8);
}

TEST_CASE("a score is the same before and after its factor was written into scaling.json") {
  const LoraRound round;
  const double before = round.scored().score_minutes;
  write_file(round.entry() / "scaling.json",
             "{\"scaling_factor\": " + dump(round.scored().scaling_factor) + "}");
  CHECK(round.scored().score_minutes == before);
  CHECK(round.scored().warnings.empty());
  write_file(round.entry() / "scaling.json", "{");
  CHECK(round.scored().score_minutes == before);
  CHECK(round.score().warnings.size() == 1);
}

TEST_CASE("non-compliant logs are failed runs, reported with their line") {
  const LoraRound round;
  TrainingLog log = lora_log();
  log.remove("run_stop");
  write_file(round.entry() / "result_3.txt", log.text());
  EntryScore entry = round.scored();
  CHECK(entry.valid());
  CHECK(entry.olympic_mean_minutes == Approx((2 + 4 + 5 + 6 + 7 + 8 + 9 + 10) / 8.0));
  CHECK(entry.runs[2].use == RunUse::failed);
  CHECK(entry.runs[2].why.find("run_stop") != std::string::npos);
  write_file(round.entry() / "result_7.txt", "no log");
  CHECK_FALSE(round.scored().valid());
  CHECK(round.score().exit_code == ExitCode::failed);
}

TEST_CASE("an evaluation above the benchmark's name is a warning of its entry") {
  const LoraRound round;
  const std::string text = read_file(round.entry() / "result_4.txt");
  const std::size_t begin = text.rfind('\n', text.find("submission_benchmark")) + 1;
  const std::size_t end = text.find('\n', begin) + 1;
  write_file(round.entry() / "result_4.txt",
             text.substr(0, begin) + text.substr(end) + text.substr(begin, end - begin));
  const EntryScore entry = round.scored();
  CHECK(entry.valid());
  REQUIRE(entry.warnings.size() == 1);
  CHECK_THAT(entry.warnings[0], Catch::Contains("above submission_benchmark in 1 of 10 logs") &&
                                    Catch::Contains("result_4.txt") &&
                                    Catch::Contains("log the benchmark first"));
}

TEST_CASE("of twelve logs, the ten consecutive ones with the median score are scored") {
  const LoraRound round(12);
  const EntryScore entry = round.scored();
  REQUIRE(entry.window);
  CHECK(entry.window->means == std::vector<double>{5.5, 6.5, 7.5});
  CHECK(entry.olympic_mean_minutes == 6.5);
}

TEST_CASE("a result of an earlier round is scored by the submission's round") {
  const LoraRound round;
  CHECK(round.scored().ruleset == "5.1.0");
  const LoraRound early;
  for (int run = 1; run <= 10; ++run)
    write_file(early.entry() / ("result_" + std::to_string(run) + ".txt"),
               lora_text(run, 3168, kMarch2025));
  CHECK(early.scored().ruleset == "5.0.0");
  write_file(early.root() / "acme/results/other/flux1/note.txt", "5.0 had no flux1");
  CHECK(score_submission(find_submission(early.entry()), {}).entries.at(0).ruleset == "5.1.0");
  CHECK(early.scored("5.0.0").ruleset == "5.0.0");
}

TEST_CASE("runs that a check read have the scores that scoring them alone gives") {
  const LoraRound round(12);
  write_file(round.entry() / "result_2.txt", lora_text(2, 3168, kMarch2025));  // of round 5.0
  write_file(round.entry() / "result_5.txt", "torn");
  write_file(round.entry() / "result_7.txt", with_line_twice(lora_text(7, 3168), "submission_org"));
  const std::string alone = dump(to_json(round.score()));
  for (const bool werror : {false, true}) {
    std::vector<ReadRun> runs;
    const Submission submission = find_submission(round.root());
    const CheckReport report = check_submission(
        submission, {.rule_sets = rule_set_folder(), .warnings_are_errors = werror}, &runs);
    CHECK(report.files.at(6).pass == !werror);
    REQUIRE(runs.size() == 12);
    CHECK(runs[1].ruleset == "5.0.0");
    CHECK(runs[6].compliant);
    const SubmissionScore score = score_runs(submission, std::move(runs), {});
    CHECK(score.entries.at(0).runs.at(1).read.ruleset == "5.1.0");
    CHECK(dump(to_json(score)) == alone);
  }
}

TEST_CASE("logs outside the layout are scored by their folder and benchmark") {
  const TemporaryDirectory folder;
  for (int run = 1; run <= 10; ++run)
    write_file(folder.path() / ("run" + std::to_string(run) + ".log"), lora_text(run, 3168));
  write_file(folder.path() / "notes.log", "nothing of MLPerf");
  const SubmissionScore score = score_submission(find_submission(folder.path()), {});
  REQUIRE(score.entries.size() == 1);
  CHECK(score.entries[0].benchmark == "llama2_70b_lora");
  CHECK(score.entries[0].division == "closed");
  CHECK(score.entries[0].olympic_mean_minutes == 5.5);
  REQUIRE(score.warnings.size() == 1);
  CHECK(score.warnings[0].find("notes.log") != std::string::npos);
}

TEST_CASE("scoring rejects an unknown round") {
  CHECK_THROWS_AS(LoraRound().score("5.2.0"), Error);
}

}  // namespace bench::mlperf
