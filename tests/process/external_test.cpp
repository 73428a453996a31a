// A training that others wrote: what is measured of it, and what becomes of each fault.
#include "tests/process/external_bench.h"
#include "tests/process/program.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE(
    "an external training that meets its target has MLPerf's time, samples, curve and phases") {
  ExternalBench external(
      {"init", "seed", "point=global_batch_size:10", "sleep_ms=60", "start", "throughput=4000",
       "eval=100:0.5", "throughput=5000", "eval=200:0.8", "stop=success"},
      {{"benchmark", "fake"}});
  const Outcome outcome = external.run();
  INFO(outcome.reason);
  REQUIRE(to_string(outcome.status) == "ok");
  const double seconds = external.series("time_to_target").values.at(0);
  CHECK(seconds > 0.055);
  CHECK(seconds < 2.0);
  CHECK(external.series("samples_to_target").values == std::vector{200.0});
  CHECK(external.series("items_per_second").values == std::vector{4000.0, 5000.0});
  CHECK(external.series("quality").values.at(0) == Approx(-0.05));
  CHECK(external.series("native_quality").values == std::vector{0.8});
  CHECK(external.series("init_time").values.at(0) >= 0.05);
  const Json facts = external.facts();
  CHECK(facts.at("workload") == "fake");
  CHECK(facts.at("converged") == true);
  CHECK(facts.at("batch") == 10);
  CHECK(facts.at("seed") == 1);
  CHECK(facts.at("seconds_to_target") == seconds);
  for (const Json& check : facts.at("checks")) CHECK(check.at("held") == true);
  CHECK(external.chunk("curve").at("native") == Json{0.5, 0.8});
  const Json phases = external.chunk("breakdown");
  CHECK(phases.at("phase") == Json{"init", "train", "evaluation", "other"});
  CHECK(phases.at("seconds").at(1).get<double>() >= 0.03);
  CHECK(phases.at("seconds").at(2).get<double>() >= 0.01);
  std::size_t events = 0;
  for (const Record& record : external.bench.records())
    if (const auto* event = std::get_if<Event>(&record.body))
      events += event->key == "mllog" && event->value.at("key") == "eval_accuracy";
  CHECK(events == 2);
  CHECK_THAT(external.log(), Contains("run_stop"));
}

TEST_CASE("an external training that misses its target has not converged, even if it claims so") {
  ExternalBench honest({"start", "eval=100:0.5", "eval=200:0.7", "stop=aborted"});
  CHECK(to_string(honest.run().status) == "ok");
  honest.check_no_time();
  CHECK_THAT(honest.series("time_to_target").reason,
             Contains("best eval_accuracy is 0.7, target 0.75"));
  check_end({"start", "eval=100:0.5", "eval=200:0.7", "stop=success"}, Status::invalid,
            "run_stop has status 'success', and the target was never met");
}

TEST_CASE("a loss converges downwards, and NaN never") {
  const Json loss = {{"target", 3.3}, {"direction", "lower"}};
  ExternalBench down({"start", "eval=100:3.5", "eval=200:3.2", "stop=success"}, loss);
  CHECK(to_string(down.run().status) == "ok");
  CHECK(down.facts().at("converged") == true);
  check_end({"start", "eval=100:3.5", "eval=200:nan", "stop=success"}, Status::invalid, "never met",
            loss);
}

TEST_CASE("a training without a target measures its speed and has no time") {
  ExternalBench external(kGood, {{"target", nullptr}});
  CHECK(to_string(external.run().status) == "ok");
  external.check_no_time();
  CHECK_THAT(external.series("time_to_target").reason, Contains("no target was given"));
  CHECK(external.series("items_per_second").values.size() == 2);
}

TEST_CASE("an external command with a nonzero exit code fails its job with its last output") {
  std::vector<std::string> words = kGood;
  words.insert(words.end(), {"complain=out of memory", "exit=3"});
  check_end(words, Status::failed, "exit code 3; last output: out of memory");
}

TEST_CASE("an external command that is killed fails its job with the signal's name") {
  check_end({"start", "signal=9"}, Status::failed, "SIGKILL");
}

TEST_CASE("an external command that ends without run_stop fails its job") {
  check_end({"init", "start", "eval=200:0.8"}, Status::failed, "its log has no run_stop");
  check_end({"say=hello"}, Status::failed, "printed no MLLOG line; last output: hello");
  check_end({"eval=200:0.8", "stop=success"}, Status::failed, "its log has no run_start");
}

TEST_CASE("an aborted run_stop is not converged, even where the target was met") {
  check_end({"start", "eval=200:0.8", "stop=aborted"}, Status::invalid,
            "run_stop has status 'aborted', and the target was met");
  check_end({"start", "eval=200:0.8", "stop"}, Status::invalid, "run_stop has no status");
}

TEST_CASE("a log with a wrong clock makes the training invalid") {
  check_end({"skew_ms=-3000", "start", "eval=200:0.8", "stop=success"}, Status::invalid,
            "the clock is wrong or output is not flushed");
  // Both ends bear plausible times, but the time between them has been shortened.
  check_end(
      {"skew_ms=250", "start", "sleep_ms=600", "eval=200:0.8", "skew_ms=-250", "stop=success"},
      Status::invalid, "clock", {{"clock_tolerance_s", 0.4}});
}

TEST_CASE("a training that ignores the seed it is given, or has another target, is invalid") {
  std::vector<std::string> words = kGood;
  words.insert(words.begin(), "point=seed:7");
  check_end(words, Status::invalid, "the log has seed 7, but 1 was given");
  words.front() = "point=target_accuracy:0.5";
  check_end(words, Status::invalid, "the log has target_accuracy 0.5, but 0.75 was given");
}

TEST_CASE("MLLOG lines that cannot be read make the training invalid") {
  std::vector<std::string> words = kGood;
  words.insert(words.begin() + 2, "say=:::MLLOG {{\"key\": \"eval_accuracy\"}}");
  check_end(words, Status::invalid, "1 MLLOG lines cannot be parsed; first: missing");
}

TEST_CASE("MLLOG lines are found behind ranks' numbers, progress bars and half lines") {
  ExternalBench external({"prefix= 8: ", "start", "raw=10%\r20%\r", "eval=100:0.5",
                          "prefix=NCCL INFO 0[", "eval=200:0.8", "stop=success"});
  CHECK(to_string(external.run().status) == "ok");
  CHECK(external.facts().at("converged") == true);
}

TEST_CASE("the example of docs/external.md runs as it is written there") {
  try {
    find_program("python3");
  } catch (const Error&) {
    WARN("not checked: no python3");
    return;
  }
  const std::string documented = read_file("docs/external.md");
  const auto begin = documented.find("{\"name\": \"train\"");
  REQUIRE(begin != std::string::npos);
  const auto end = documented.find("```", begin);
  const Json shown = parse_json(documented.substr(begin, end - begin), "docs/external.md");
  const Json suite = read_json("docs/examples/external/suite.json");
  CHECK(suite.at("cases").at(0) == shown);
  const BenchctlFolder bench;
  const Answer answer = bench.run({"run", "docs/examples/external/suite.json", "--json"});
  INFO(answer.err);
  CHECK(bench.measured(answer));
  std::size_t times = 0;
  const Json report = parse_json(answer.out, "report");
  for (const Json& result : report.at("results"))
    times += result.at("metric") == "external.time_to_target" && result.at("outcome") == "ok";
  CHECK(times == 3);
}
