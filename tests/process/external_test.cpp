// A training that others wrote, under a real bench-rank: what becomes of each fault, and that
// nothing of it survives.
#include <signal.h>

#include <fstream>

#include "core/error.h"
#include "core/schema.h"
#include "runner/launch/process.h"
#include "tests/process/program.h"
#include "tests/process/rank_bench.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

std::string beside(const std::string& name) { return (program_folder() / name).string(); }

const std::vector<std::string> kGood = {"init", "start", "eval=100:0.5", "eval=200:0.8",
                                        "stop=success"};

struct ExternalBench {
  RankBench bench;
  PlanEntry job;

  explicit ExternalBench(const std::vector<std::string>& words, Json params = Json::object()) {
    bench.site.rank_program = beside("bench-rank");
    bench.site.root = true;
    bench.site.run_folder = bench.directory.path().string();
    bench.site.token = bench.directory.id();
    params["argv"] = {beside("fake_trainer")};
    for (const std::string& word : words) params["argv"].push_back(word);
    params.emplace("target", 0.75);
    params.emplace("grace_s", 0.3);
    const Schema schema = Schema::load("schemas/probes/external.json");
    job = entry("01.external", schema.check(params, "test"), 20.0);
    job.job.probe = "external";
    job.job.binding = "none";
  }

  Outcome run() {
    bench.run({job});
    return bench.outcome("01.external");
  }

  Json facts() const {
    for (const Record& record : bench.records())
      if (const auto* facts = std::get_if<Facts>(&record.body); facts && facts->topic == "training")
        return facts->facts;
    return nullptr;
  }

  Samples series(const std::string& metric) const {
    for (const Record& record : bench.records())
      if (const auto* samples = std::get_if<Samples>(&record.body);
          samples && samples->metric == metric)
        return *samples;
    Samples none;
    none.outcome = Status::failed;
    none.reason = "there is none";
    return none;
  }

  Json chunk(const std::string& name) const {
    for (const Record& record : bench.records())
      if (const auto* chunk = std::get_if<Chunk>(&record.body); chunk && chunk->name == name)
        return chunk->columns;
    return nullptr;
  }

  std::string log(int rank = 0) const {
    return read_file(bench.directory.path() / "external" / "01.external" /
                     ("rank-000" + std::to_string(rank) + ".log"));
  }

  /// Of every kind of end: the job has no time to the target.
  void check_no_time() const {
    const Samples time = series("time_to_target");
    CHECK(to_string(time.outcome) == "skipped");
    CHECK_FALSE(time.reason.empty());
    CHECK(facts().at("converged") == false);
  }
};

void check_end(const std::vector<std::string>& words, Status status, const std::string& reason,
               const Json& params = Json::object()) {
  ExternalBench external(words, params);
  const Outcome outcome = external.run();
  INFO(outcome.reason);
  CHECK(to_string(outcome.status) == to_string(status));
  CHECK_THAT(outcome.reason, Contains(reason));
  external.check_no_time();
  CHECK(external.bench.seconds < 8.0);
}

bool alive(pid_t pid) { return kill(pid, 0) == 0; }

pid_t pid_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  pid_t pid = 0;
  in >> pid;
  return pid;
}

void check_gone(pid_t pid) {
  REQUIRE(pid > 1);
  for (int i = 0; i < 200 && alive(pid); ++i) usleep(20'000);
  CHECK_FALSE(alive(pid));
}

bool has_mpirun(ExternalBench& external) try {
  external.bench.site.mpirun = find_program("mpirun");
  return true;
} catch (const Error&) {
  WARN("not checked: no mpirun");
  return false;
}

}  // namespace

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

TEST_CASE("an external training that never meets its target has not converged, whatever it says") {
  ExternalBench honest({"start", "eval=100:0.5", "eval=200:0.7", "stop=aborted"});
  CHECK(to_string(honest.run().status) == "ok");
  honest.check_no_time();
  CHECK_THAT(honest.series("time_to_target").reason,
             Contains("eval_accuracy reached 0.7 at best, and its target is 0.75"));
  check_end({"start", "eval=100:0.5", "eval=200:0.7", "stop=success"}, Status::invalid,
            "run_stop says 'success', and the target was never met");
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

TEST_CASE("an external command that exits badly fails its job with its last words") {
  std::vector<std::string> words = kGood;
  words.insert(words.end(), {"complain=out of memory", "exit=3"});
  check_end(words, Status::failed, "exit code 3; it said last: out of memory");
}

TEST_CASE("an external command that is killed fails its job with the signal's name") {
  check_end({"start", "signal=9"}, Status::failed, "SIGKILL");
}

TEST_CASE("an external command that ends without run_stop fails its job") {
  check_end({"init", "start", "eval=200:0.8"}, Status::failed, "it ended without run_stop");
  check_end({"say=hello"}, Status::failed, "printed no MLLOG line; it said last: hello");
  check_end({"eval=200:0.8", "stop=success"}, Status::failed, "its log has no run_start");
}

TEST_CASE("an aborted run_stop is not converged, even where the target was met") {
  check_end({"start", "eval=200:0.8", "stop=aborted"}, Status::invalid,
            "run_stop says 'aborted', and the target was met");
  check_end({"start", "eval=200:0.8", "stop"}, Status::invalid, "run_stop has no status");
}

TEST_CASE("a log whose clock is not ours makes the training invalid") {
  check_end({"skew_ms=-3000", "start", "eval=200:0.8", "stop=success"}, Status::invalid,
            "its clock is wrong, or it does not flush");
  // Both ends bear plausible times, but the time between them has been shortened.
  check_end(
      {"skew_ms=250", "start", "sleep_ms=600", "eval=200:0.8", "skew_ms=-250", "stop=success"},
      Status::invalid, "clock", {{"clock_tolerance_s", 0.4}});
}

TEST_CASE("a training that ignores the seed it is given, or has another target, is invalid") {
  std::vector<std::string> words = kGood;
  words.insert(words.begin(), "point=seed:7");
  check_end(words, Status::invalid, "its log says 7 for its seed, and 1 was given");
  words.front() = "point=target_accuracy:0.5";
  check_end(words, Status::invalid, "its log says 0.5 for target_accuracy, and 0.75 was given");
}

TEST_CASE("MLLOG lines that cannot be read make the training invalid") {
  std::vector<std::string> words = kGood;
  words.insert(words.begin() + 2, "say=:::MLLOG {{\"key\": \"eval_accuracy\"}}");
  check_end(words, Status::invalid, "1 of its MLLOG lines cannot be read; the first: missing");
}

TEST_CASE("MLLOG lines are found behind ranks' numbers, progress bars and half lines") {
  ExternalBench external({"prefix= 8: ", "start", "raw=10%\r20%\r", "eval=100:0.5",
                          "prefix=NCCL INFO 0[", "eval=200:0.8", "stop=success"});
  CHECK(to_string(external.run().status) == "ok");
  CHECK(external.facts().at("converged") == true);
}

TEST_CASE("a training that floods both of its outputs is neither blocked nor lost") {
  std::vector<std::string> words = kGood;
  words.insert(words.begin() + 2, "flood=20000");
  ExternalBench external(words);
  CHECK(to_string(external.run().status) == "ok");
  CHECK(external.log().size() > 20'000'000);
}

TEST_CASE("a training that hangs is ended at its deadline with all its descendants") {
  check_end({"start", "hang"}, Status::timed_out, "still running after its deadline of",
            {{"deadline_s", 0.4}});
  check_end({"start", "stubborn", "hang"}, Status::timed_out, "still running after its deadline of",
            {{"deadline_s", 0.4}});
}

TEST_CASE("a process that an external command daemonises is ended too") {
  for (const bool hangs : {false, true}) {
    const TemporaryDirectory folder;
    const auto file = folder.path() / "pid";
    std::vector<std::string> words = {"daemon=" + file.string(), "sleep_ms=100"};
    words.insert(words.end(), kGood.begin(), kGood.end());
    if (hangs) words.emplace_back("hang");
    ExternalBench external(words, {{"deadline_s", 0.6}});
    const Outcome outcome = external.run();
    INFO(outcome.reason);
    CHECK(to_string(outcome.status) == (hangs ? "timed_out" : "ok"));
    if (!hangs) CHECK(external.facts().at("commands").at(0).at("left_behind") == 1);
    check_gone(pid_in(file));
  }
}

TEST_CASE("what a training started does not survive a rank that is killed") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "pid", mark = folder.path() / "mark";
  ExternalBench external(
      {"start", "daemon=" + file.string(), "hang"},
      {{"deadline_s", 60.0}, {"cleanup", {beside("fake_trainer"), "mark=" + mark.string()}}});
  external.job.job.timeout_s = 1.0;  // the dispatcher's own deadline comes first
  const Outcome outcome = external.run();
  CHECK(to_string(outcome.status) == "timed_out");
  check_gone(pid_in(file));
  for (int i = 0; i < 200 && !std::filesystem::exists(mark); ++i) usleep(20'000);
  CHECK(std::filesystem::exists(mark));
}

TEST_CASE("the command that cleans up runs when the other has ended, and its exit code is told") {
  const TemporaryDirectory folder;
  const auto mark = folder.path() / "mark";
  std::vector<std::string> words = kGood;
  words.emplace_back("exit=3");
  ExternalBench external(
      words, {{"cleanup", {beside("fake_trainer"), "mark=" + mark.string(), "exit=4"}}});
  CHECK(to_string(external.run().status) == "failed");
  CHECK(std::filesystem::exists(mark));
  CHECK(external.facts().at("commands").at(0).at("cleanup") == 4);
  CHECK(external.facts().at("commands").at(0).at("end") == "exit code 3");
}

TEST_CASE("an external command that cannot be started says why") {
  ExternalBench external(kGood);
  external.job.job.params["argv"] = {"/nowhere/train"};
  const Outcome outcome = external.run();
  CHECK(to_string(outcome.status) == "failed");
  CHECK_THAT(outcome.reason, Contains("/nowhere/train") && Contains("No such file"));
}

TEST_CASE("an external command without what it needs is not started, and the parameter is named") {
  ExternalBench external({"say={data}"});
  CHECK_THAT(external.run().reason, Contains("argv/1: it needs {data}, which was not given"));
  ExternalBench unknown({"say={sede}"});
  CHECK_THAT(unknown.run().reason, Contains("{sede}") && Contains("Did you mean 'seed'?"));
}

TEST_CASE("an external command finds its seed, place and paths in its environment") {
  std::vector<std::string> words;
  for (const char* name : {"BENCH_SEED", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR",
                           "BENCH_DATA", "SEED", "OMPI_COMM_WORLD_RANK", "OMP_PROC_BIND"})
    words.push_back(std::string("variable=") + name);
  words.insert(words.end(), kGood.begin(), kGood.end());
  ExternalBench external(words, {{"data", "/data"}, {"environment", {{"SEED", "s{seed}"}}}});
  external.job.job.seed = 42;
  CHECK(to_string(external.run().status) == "ok");
  const std::string log = external.log();
  for (const char* line : {"BENCH_SEED=42\n", "RANK=0\n", "WORLD_SIZE=1\n", "LOCAL_RANK=0\n",
                           "MASTER_ADDR=127.0.0.1\n", "BENCH_DATA=/data\n", "\nSEED=s42\n",
                           "OMPI_COMM_WORLD_RANK=(not set)\n", "OMP_PROC_BIND=(not set)\n"})
    CHECK_THAT(log, Contains(line));
}

TEST_CASE("an external training on several ranks logs from any of them") {
  std::vector<std::string> words = {"variable=RANK", "only_rank=1"};
  words.insert(words.end(), kGood.begin(), kGood.end());
  ExternalBench external(words);
  if (!has_mpirun(external)) return;
  external.job.job.ranks = 2;
  const Outcome outcome = external.run();
  INFO(outcome.reason);
  CHECK(to_string(outcome.status) == "ok");
  CHECK(external.facts().at("converged") == true);
  CHECK(external.facts().at("commands").size() == 2);
  CHECK_THAT(external.log(0), Contains("RANK=0"));
  CHECK_THAT(external.log(1), Contains("RANK=1") && Contains("run_stop"));
}

TEST_CASE("an external command that fails on one rank ends those of the others") {
  ExternalBench external({"start", "unless_rank=1", "complain=no device", "exit=5"},
                         {{"deadline_s", 15.0}});
  if (!has_mpirun(external)) return;
  external.job.job.ranks = 2;
  const Outcome outcome = external.run();
  CHECK(to_string(outcome.status) == "failed");
  CHECK_THAT(outcome.reason,
             Contains("rank 1") && Contains("exit code 5") && Contains("no device"));
  CHECK(external.bench.seconds < 8.0);
}

TEST_CASE("one external command a host is started once for all its ranks") {
  std::vector<std::string> words = {"variable=WORLD_SIZE", "variable=LOCAL_WORLD_SIZE"};
  words.insert(words.end(), kGood.begin(), kGood.end());
  ExternalBench external(words, {{"processes", "host"}});
  if (!has_mpirun(external)) return;
  external.job.job.ranks = 2;
  CHECK(to_string(external.run().status) == "ok");
  CHECK(external.facts().at("commands").size() == 1);
  CHECK_THAT(external.log(), Contains("WORLD_SIZE=1\n") && Contains("LOCAL_WORLD_SIZE=1\n"));
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
  CHECK(answer.exit.clean());
  std::size_t times = 0;
  const Json report = parse_json(answer.out, "report");
  for (const Json& result : report.at("results"))
    times += result.at("metric") == "external.time_to_target" && result.at("outcome") == "ok";
  CHECK(times == 3);
}
