// benchctl train as users run it, with the real rank: steps, a target that is soon met, one that is
// not, MLPerf's log, the report of kept runs, and what is refused.
#include <filesystem>
#include <fstream>

#include "mlperf/rules/official_check.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// A gap of 0.9 nats takes two evaluations.
std::vector<std::string> train_easily(std::vector<std::string> more) {
  std::vector<std::string> words = {"train", "llm", "--lanes", "1", "--target", "0.9"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("train reaches an easy target twice, and its runs are stored, reported and logged") {
  const BenchctlFolder bench;
  const auto logs = (bench.folder.path() / "logs").string();
  const auto page = (bench.folder.path() / "training.html").string();
  const auto gauges = (bench.folder.path() / "training.prom").string();
  const Answer answer =
      bench.run(train_easily({"--seeds", "4,7", "--json", "--mllog", logs, "--html", page,
                              "--prometheus", gauges, "--label", "kernel=new"}));
  INFO(answer.err);
  REQUIRE(answer.exit.clean());
  const Json json = parse_json(answer.out, "answer");
  CHECK(json["runs"].size() == 2);
  CHECK(json["runs"][1]["seed"] == 7);
  CHECK(json["runs"][1]["converged"] == true);
  CHECK(json["runs"][1]["quality"] <= 0.9);
  CHECK(json["olympic_mean_s"] > 0.0);
  CHECK(json["groups"][0]["breakdown"].size() > 5);
  CHECK_THAT(read_file(logs + "/result_1.txt"), Contains("\"key\": \"run_stop\""));
  CHECK_THAT(read_file(page), Contains("<polyline"));
  for (const char* sample : {"seed\\\":4", "seed\\\":7"})
    CHECK_THAT(read_file(gauges), Contains(sample));
  CHECK_THAT(read_file(gauges), Contains("# TYPE benchctl_training_items_per_second gauge") &&
                                    Contains("benchctl_training_loss{"));
  const std::string written = read_file(gauges);
  const std::string running = written.substr(written.find("\nbenchctl_training_running{") + 1);
  CHECK_THAT(running.substr(0, running.find("# HELP")), Contains("} 0\n") && !Contains("} 1\n"));

  // No round has such a benchmark; by all other rules of the open division the log is right.
  for (const char* version : {"5.1.0", "6.1.0"}) {
    const auto rules = mlperf::load_rule_set(mlperf::rule_set_folder(), version);
    const mlperf::Log log = mlperf::read_log(logs + "/result_1.txt");
    CHECK(log.invalid_lines.empty());
    const mlperf::OfficialVerdict verdict = official_check(log, rules);
    CHECK_FALSE(verdict.pass);
    for (const mlperf::Finding& finding : verdict.findings) {
      INFO(finding.rule << ": " << finding.text);
      CHECK(finding.rule.ends_with(".submission_benchmark"));
    }
    CHECK(verdict.warnings.empty());
  }

  CHECK(parse_json(bench.run({"runs", "--json"}).out, "runs")[0]["labels"]["kernel"] == "new");
  const Answer kept = bench.run({"report", "training", "label:kernel=new"});
  CHECK(kept.exit.clean());
  CHECK_THAT(kept.out, Contains("llm tiny") && Contains("twins of MLPerf"));
  CHECK_THAT(kept.out, Contains("Bottleneck analysis") && Contains(", training"));
  const Answer again = bench.run({"report", "training", "--mllog", logs});
  CHECK(again.exit.text() == "exit code 2");
  CHECK_THAT(again.err, Contains("already exists"));
}

TEST_CASE("train --batches compares batch sizes, and one that does not fit is no failure") {
  const BenchctlFolder bench;
  const Answer answer =
      bench.run({"train", "llm", "--batches", "8,256", "--samples", "256", "--lanes", "1", "--set",
                 "train.micro_batch=256", "--set", "train.memory_budget=60e6", "--json"});
  INFO(answer.err);
  REQUIRE(answer.exit.clean());
  const Json ladder = parse_json(answer.out, "answer")["batch_ladders"].at(0);
  CHECK(ladder["samples"] == 256);
  CHECK(ladder["points"][0]["samples"] == 256.0);
  CHECK(ladder["fastest"] == 8);
  CHECK(ladder["points"][0]["gap"] > 0.0);
  CHECK(ladder["points"][0]["memory_bytes"] < 60e6);
  CHECK(ladder["points"][1]["throughput"].is_null());
  CHECK_THAT(ladder["points"][1]["reason"].get<std::string>(), Contains("out of memory"));
}

TEST_CASE("train --steps reports throughput and no time to train") {
  const BenchctlFolder bench;
  const Answer answer = bench.run({"train", "llm", "--steps", "12", "--lanes", "1", "--json"});
  INFO(answer.err);
  REQUIRE(answer.exit.clean());
  const Json json = parse_json(answer.out, "answer");
  CHECK(json["runs"][0]["state"] == "timed_steps");
  CHECK(json["throughput"] > 0.0);
  CHECK(json["olympic_mean_s"].is_null());
}

TEST_CASE("train takes files relative to the current folder") {
  const BenchctlFolder bench;
  const auto file = bench.folder.path() / "train.bin";
  std::ofstream(file, std::ios::binary) << std::string(20'000, '\1');  // nanoGPT's: tokens 257
  const auto path = std::filesystem::relative(file).string();
  const Answer answer = bench.run({"train", "llm", "--steps", "4", "--lanes", "1", "--data", path,
                                   "--vocabulary", "300", "--json"});
  INFO(answer.err);
  REQUIRE(answer.exit.clean());
  const Json json = parse_json(answer.out, "answer");
  CHECK(json["groups"][0]["facts"]["data"]["samples"] == 9999 / 64);
  CHECK_THAT(json["note"].get<std::string>(), Contains("no known best quality"));
  const Answer text = bench.run({"report", "training", "latest"});
  CHECK_THAT(text.out, Contains("156 samples from " + file.string()));
}

TEST_CASE("ranks over MPI exchange gradients during the backward pass") {
  const BenchctlFolder bench;
  const Answer answer =
      bench.run({"train", "llm", "--steps", "12", "--ranks", "2", "--lanes", "1", "--json"});
  if (answer.exit.text() == "exit code 3") {
    WARN("not checked: " << answer.err);
    return;
  }
  INFO(answer.err);
  REQUIRE(answer.exit.clean());
  const Json json = parse_json(answer.out, "answer");
  CHECK(json["groups"][0]["ranks"] == 2);
  CHECK(json["groups"][0]["facts"]["exchange_overlaps"] == true);
}

TEST_CASE("ranks that exchange less say so in their title, and how much less") {
  const BenchctlFolder bench;
  const Answer answer = bench.run({"train", "llm", "--steps", "12", "--ranks", "2", "--lanes", "1",
                                   "--exchange", "topk=0.05", "--json"});
  if (answer.exit.text() == "exit code 3") {
    WARN("not checked: " << answer.err);
    return;
  }
  INFO(answer.err);
  REQUIRE(answer.exit.clean());
  const Json facts = parse_json(answer.out, "answer")["groups"][0]["facts"];
  CHECK(facts["exchange"]["setting"] == "topk=0.05");
  CHECK(facts["exchange"]["bytes_ratio"].get<double>() == Approx(0.1).epsilon(0.01));
  CHECK_THAT(bench.run({"report", "training", "latest"}).out,
             Contains("2 ranks (topk 0.05)") && Contains("topk=0.05: ") && Contains("compression"));
  const Answer alone = bench.run({"train", "llm", "--exchange", "local=8"});
  CHECK(alone.exit.text() == "exit code 2");
  CHECK_THAT(alone.err, Contains("one rank has nothing to exchange") && Contains("--ranks 2"));
}

TEST_CASE("train refuses invalid options with the allowed values") {
  const BenchctlFolder bench;
  const Answer workload = bench.run({"train", "lm"});
  CHECK(workload.exit.text() == "exit code 2");
  CHECK_THAT(workload.err, Contains("llm"));
  const Answer seeds = bench.run({"train", "llm", "--seeds", "1,2", "--runs", "3"});
  CHECK(seeds.exit.text() == "exit code 2");
  CHECK_THAT(seeds.err, Contains("2 seeds"));
  CHECK_THAT(bench.run({"train", "llm", "--ranks", "1,2"}).err, Contains("--scaling"));
  CHECK(all_runs(bench.folder.path() / "runs").empty());
}

TEST_CASE("a report of runs without a training is no success") {
  const BenchctlFolder bench;
  CHECK(bench.run({"run", bench.suite({""})}).exit.clean());
  const Answer answer = bench.run({"report", "training"});
  CHECK(answer.exit.text() == "exit code 3");
  CHECK_THAT(answer.out, Contains("no training"));
}
