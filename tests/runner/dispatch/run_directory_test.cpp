#include "runner/dispatch/run_directory.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <utility>

#include "core/error.h"
#include "runner/dispatch/execute.h"
#include "runner/site/find_run.h"
#include "runner/site/site_settings.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kTime = 1'795'199'405'000'000'000;  // 2026-11-20T18:30:05Z

}  // namespace

TEST_CASE("a run's ID is time, suite and four hexadecimal digits, and is unique") {
  const TemporaryDirectory folder;
  const auto one = RunDirectory::create(folder.path() / "a" / "runs", "smoke", kTime);
  const auto two = RunDirectory::create(folder.path() / "a" / "runs", "smoke", kTime);
  CHECK(std::regex_match(one.id(), std::regex("20261120T183005Z-smoke-[0-9a-f]{4}")));
  CHECK(one.id() != two.id());
  CHECK(std::filesystem::is_directory(one.path() / "log"));
}

TEST_CASE("the plan is whole or not there") {
  const TemporaryDirectory folder;
  const auto run = RunDirectory::create(folder.path(), "s", kTime);
  run.write_plan(R"({"suite": "s"})");
  CHECK(read_json(run.path() / "plan.json") == Json{{"suite", "s"}});
  CHECK_FALSE(std::filesystem::exists(run.path() / "plan.json.tmp"));
}

TEST_CASE("a folder that cannot be created is an environment error with advice") {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() / "file") << "x";
  try {
    RunDirectory::create(folder.path() / "file" / "runs", "s", kTime);
    FAIL("made it");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK_THAT(error.what(), Contains("file/runs"));
    CHECK_THAT(error.hint(), Contains("--db"));
  }
}

TEST_CASE("a full spool is an environment error that names the file") {
  Spool spool = Spool::append_to("/dev/full");
  try {
    spool.append(std::string("{}"));
    FAIL("written");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK_THAT(error.what(), Contains("/dev/full") && Contains("No space left"));
    CHECK_THAT(error.hint(), Contains("benchctl resume dev"));  // the folder's name
  }
}

TEST_CASE("a spool is never written over") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "records.jsonl";
  Spool(path).append(std::string("{}"));
  CHECK(read_file(path) == "{}\n");
  CHECK_THROWS_AS(Spool(path), Error);
}

TEST_CASE("what follows a line that a crash tore is not lost with it") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "records.jsonl";
  for (const auto& [before, after] :
       {std::pair("{}\n{\"job\": ", "{}\n{}\n"), std::pair("{}\n[1]", "{}\n[1]\n{}\n"),
        std::pair("{\"j", "{}\n"), std::pair("", "{}\n")}) {
    std::ofstream(path, std::ios::trunc) << before;
    Spool spool = Spool::append_to(path);
    spool.complete_last_line();
    spool.complete_last_line();
    spool.append(std::string("{}"));
    CHECK(read_file(path) == after);
  }
}

TEST_CASE("of two runs of one second the one that was planned later is the latest") {
  const TemporaryDirectory folder;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& [id, age] : {std::pair{"20261120T183005Z-a-0002", 2},
                                {"20261120T183005Z-a-0001", 1},
                                {"20261120T183004Z-b-0003", 0}}) {
    std::filesystem::create_directory(folder.path() / id);
    std::ofstream(folder.path() / id / "plan.json") << "{}";
    std::filesystem::last_write_time(folder.path() / id / "plan.json",
                                     now - std::chrono::milliseconds(age));
  }
  CHECK(find_run(folder.path(), "latest").filename() == "20261120T183005Z-a-0001");
  CHECK(all_runs(folder.path()).front() == "20261120T183004Z-b-0003");
}

TEST_CASE("a run is found by its id, the beginning of it, or as the latest") {
  const TemporaryDirectory folder;
  const auto one = RunDirectory::create(folder.path(), "one", kTime);
  const auto two = RunDirectory::create(folder.path(), "two", kTime + 1'000'000'000);
  one.write_plan("{}");
  two.write_plan("{}");
  CHECK(find_run(folder.path(), one.id()) == one.path());
  CHECK(find_run(folder.path(), "20261120T183005Z") == one.path());
  CHECK(find_run(folder.path(), "latest") == two.path());
  CHECK(find_run(folder.path(), "latest~0") == two.path());
  CHECK(find_run(folder.path(), "latest~1") == one.path());
  CHECK_THROWS_WITH(find_run(folder.path(), "latest~2"), Contains("there are only 2"));
  CHECK_THROWS_WITH(find_run(folder.path(), "latest~x"), Contains("unknown run"));
  CHECK_THROWS_WITH(find_run(folder.path(), "2026"), Contains("2 runs"));
  std::string slip = one.id();
  slip.back() = slip.back() == '0' ? '1' : '0';
  CHECK_THROWS_WITH(find_run(folder.path(), slip), Contains("Did you mean '" + one.id() + "'?"));
  CHECK_THROWS_WITH(find_run(folder.path() / "none", "latest"), Contains("no runs"));
}

TEST_CASE("only environment variables that affect measurements are stored") {
  const char* const variables[] = {"OMP_NUM_THREADS=2",
                                   "AWS_SECRET_KEY=x",
                                   "OMPI_MCA_btl=self",
                                   "HOME=/root",
                                   "TZ=UTC",
                                   "BROKEN",
                                   "SLURM_JOB_ID=7",
                                   "SLURM_JWT=secret",
                                   "NCCL_AUTH=secret",
                                   nullptr};
  CHECK(kept_environment(variables) == Json{{"OMP_NUM_THREADS", "2"},
                                            {"OMPI_MCA_btl", "self"},
                                            {"TZ", "UTC"},
                                            {"NCCL_AUTH", secret_hash("secret")},
                                            {"SLURM_JOB_ID", "7"}});
}

TEST_CASE("the database is where --db says, else $BENCHCTL_DB, else in the user's state folder") {
  unsetenv("BENCHCTL_DB");
  setenv("XDG_STATE_HOME", "relative", 1);
  setenv("HOME", "/home/u", 1);
  CHECK(database_path("") == "/home/u/.local/state/benchctl/results.sqlite");
  setenv("XDG_STATE_HOME", "/state", 1);
  CHECK(database_path("") == "/state/benchctl/results.sqlite");
  setenv("BENCHCTL_DB", "/db/r.sqlite", 1);
  CHECK(database_path("") == "/db/r.sqlite");
  CHECK(database_path("/other.sqlite") == "/other.sqlite");
  CHECK_THROWS_WITH(database_path("/dev/zero"), Contains("not a regular file"));
  CHECK(runs_folder("/db/r.sqlite") == "/db/runs");
  unsetenv("BENCHCTL_DB");
  unsetenv("XDG_STATE_HOME");
}
