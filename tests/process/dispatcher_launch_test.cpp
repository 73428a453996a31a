// Starting ranks: what is missing, too old or silent, and what one process serves.
#include <fstream>

#include "core/error.h"
#include "tests/process/rank_bench.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("jobs of one kind are served by one process") {
  RankBench bench;
  bench.run({entry("01.a", Json::object()), entry("02.b", Json::object()),
             entry("03.c", Json::object())});
  CHECK(bench.finished);
  for (const char* job : {"01.a", "02.b", "03.c"})
    CHECK(to_string(bench.outcome(job).status) == "ok");
  CHECK(bench.count<Phase>("01.a") == 1);
  CHECK(bench.count<Phase>("02.b") + bench.count<Phase>("03.c") == 0);
  CHECK_FALSE(std::filesystem::exists(bench.directory.log_path(2)));
  CHECK_THAT(read_file(bench.directory.log_path(1)),
             Contains("serving 01.a") && Contains("serving 03.c"));
}

TEST_CASE("another environment makes another process") {
  RankBench bench;
  auto other = entry("02.b", Json::object());
  other.job.env = {{"FAULTY_RANK", "exit3"}};
  bench.run({entry("01.a", Json::object()), other});
  CHECK(to_string(bench.outcome("01.a").status) == "ok");
  CHECK_THAT(bench.outcome("02.b").reason, Contains("exit code 3"));
}

TEST_CASE("a missing rank program fails its jobs with the path") {
  RankBench bench;
  bench.site.rank_program = "/nonexistent/bench-rank";
  bench.run({entry("01.a", Json::object()), entry("02.b", Json::object())});
  for (const char* job : {"01.a", "02.b"}) {
    CHECK(to_string(bench.outcome(job).status) == "failed");
    CHECK_THAT(bench.outcome(job).reason, Contains("/nonexistent/bench-rank: not found"));
  }
}

TEST_CASE("a rank program that cannot be executed fails its jobs with the reason") {
  RankBench bench;
  const auto path = bench.folder.path() / "bench-rank";
  std::ofstream(path) << "no program\n";
  bench.site.rank_program = path.string();
  bench.run({entry("01.a", Json::object())});
  CHECK_THAT(bench.outcome("01.a").reason, Contains("not an executable file"));

  RankBench other;
  other.site.rank_program = path.string();
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  other.run({entry("01.a", Json::object())});
  CHECK_THAT(other.outcome("01.a").reason, Contains("Exec format error"));
}

TEST_CASE("a rank of another version is refused before anything is measured") {
  RankBench bench;
  auto job = entry("01.a", Json::object());
  job.job.env = {{"FAULTY_RANK_START", "version"}};
  try {
    bench.run({job});
    FAIL("not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK_THAT(error.what(), Contains("0.0.0+other") && Contains(std::string(version())));
    CHECK_THAT(error.hint(), Contains("scripts/build"));
  }
  CHECK(bench.count<Samples>("01.a") == 0);
}

TEST_CASE("a missing handshake is waited for once, not once per job") {
  RankBench bench;
  bench.settings.handshake = Seconds{0.5};
  auto one = entry("01.a", Json::object()), two = entry("02.b", Json::object());
  one.job.env = two.job.env = {{"FAULTY_RANK_START", "silent"}};
  bench.run({one, two, entry("03.c", Json::object())});
  for (const char* job : {"01.a", "02.b"})
    CHECK_THAT(bench.outcome(job).reason, Contains("no handshake from the ranks within 0.5 s"));
  CHECK(to_string(bench.outcome("03.c").status) == "ok");
  CHECK(bench.seconds < 3.0);
}

TEST_CASE("a rank that crashes during startup fails its jobs with the signal") {
  RankBench bench;
  auto job = entry("01.a", Json::object());
  job.job.env = {{"FAULTY_RANK_START", "crash"}};
  bench.run({job, entry("02.b", Json::object())});
  CHECK_THAT(bench.outcome("01.a").reason, Contains("exited during startup: SIGSEGV"));
  CHECK(to_string(bench.outcome("02.b").status) == "ok");
}

TEST_CASE("a planned skip starts nothing") {
  RankBench bench;
  auto job = entry("01.a", Json::object());
  job.skip = "no CUDA build";
  bench.run({job});
  CHECK(bench.records().empty());
}

TEST_CASE("a job's result becomes a limit of a later job, with that job's parameter names") {
  RankBench bench;
  bench.catalogue = ProbeCatalogue(
      {probe_entry({{"title", "peak"},
                    {"description", "d"},
                    {"devices", {"host"}},
                    {"metrics", {{"value", {{"unit", "count"}, {"better", "higher"}}}}}},
                   "peak"),
       probe_entry({{"title", "gemm"},
                    {"description", "d"},
                    {"devices", {"host"}},
                    {"metrics",
                     {{"value",
                       {{"unit", "count"},
                        {"better", "higher"},
                        {"limit", {{"metric", "peak.value"}, {"where", {{"dtype", "type"}}}}}}}}}},
                   "gemm")});
  auto peak = entry("01.peak", {{"dtype", "f32"}}), gemm = entry("02.gemm", {{"fault", "limits"}});
  peak.job.probe = "peak";
  gemm.job.probe = "gemm";
  bench.run({peak, gemm});
  Json limits;
  for (const Record& record : bench.records())
    if (const auto* event = std::get_if<Event>(&record.body)) limits = event->value;
  REQUIRE(limits.size() == 1);
  CHECK(limits[0]["metric"] == "value");
  CHECK(limits[0]["params"] == Json{{"type", "f32"}});
  CHECK(limits[0]["limit"]["value"] == 2.0);
  CHECK(limits[0]["limit"]["kind"] == "measured");
  CHECK(limits[0]["limit"]["source"] == "peak.value measured in this run");
}

TEST_CASE("five hundred jobs cost little each") {
  RankBench bench;
  std::vector<PlanEntry> jobs;
  for (int i = 0; i < 500; ++i) jobs.push_back(entry("job" + std::to_string(i), Json::object()));
  bench.run(jobs);
  CHECK(to_string(bench.outcome("job499").status) == "ok");
  CHECK(bench.seconds < 7.5);  // 15 ms each is what is promised
}
