// ^C, kill -9 and a full disk: what was received is kept, and the end comes in time.
#include <sys/mount.h>
#include <sys/resource.h>

#include "core/proc_stat.h"
#include "core/record.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// Every line; a torn last one is left out.
std::vector<Record> whole_records(const std::string& text) {
  std::vector<Record> records;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    records.push_back(record_from_json(parse_json(text.substr(at, end - at), "records")));
  return records;
}

Outcome outcome(const std::vector<Record>& records, const std::string& job) {
  Outcome last{Status::failed, "no outcome at all", 0.0};
  for (const Record& record : records)
    if (const auto* body = std::get_if<Outcome>(&record.body); body && record.job == job)
      last = *body;
  return last;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const ProcStat& process : all_processes())
    if (process.parent == parent) found.push_back(process.pid);
  return found;
}

bool is_gone(pid_t pid) {
  const auto stat = read_proc_stat(pid);
  return !stat || stat->state == 'Z';
}

}  // namespace

TEST_CASE("^C ends a run within 2 s, keeps its results and exits with 130") {
  for (const char* fault : {"hang", "stubborn"}) {
    INFO(fault);
    const BenchctlFolder bench;
    Program program = bench.start_suite({"", fault, ""});
    REQUIRE(
        wait_until([&] { return bench.recorded("\"job\":\"02.case2\",\"kind\":\"samples\""); }));
    const auto start = std::chrono::steady_clock::now();
    program.signal(SIGINT);
    const Answer answer = program.wait();
    CHECK(seconds_since(start) < 2.0);
    CHECK(answer.exit.text() == "exit code 130");
    CHECK_THAT(answer.out, Contains("case1"));  // the report is printed all the same
    const auto records = whole_records(bench.records_text());
    CHECK(outcome(records, "01.case1").status == Status::ok);
    CHECK(outcome(records, "02.case2").status == Status::skipped);
    CHECK_THAT(outcome(records, "02.case2").reason, Contains("interrupted"));
    CHECK(outcome(records, "03.case3").status == Status::skipped);
    CHECK(outcome(records, "03.case3").reason == "interrupted");
    CHECK_THAT(bench.records_text(), Contains("\"state\":\"interrupted\""));
  }
}

TEST_CASE("a second ^C does not wait for the grace period") {
  const BenchctlFolder bench;
  Program program = bench.start_suite({"stubborn"});
  REQUIRE(wait_until([&] { return bench.recorded("\"kind\":\"samples\""); }));
  const auto start = std::chrono::steady_clock::now();
  program.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  program.signal(SIGINT);
  CHECK(program.wait().exit.text() == "exit code 130");
  CHECK(seconds_since(start) < 0.8);  // the first grace alone is 1 s
}

TEST_CASE(
    "kill -9 of benchctl loses no record it had received, leaves no rank, and can be rebuilt") {
  for (const int milliseconds : {0, 7, 31}) {
    const BenchctlFolder bench;
    Program program = bench.start_suite({"", "count"});
    REQUIRE(wait_until([&] { return bench.recorded("\"key\":\"number\""); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    const auto ranks = children_of(program.pid());
    const std::size_t seen = bench.records_text().size();
    program.signal(SIGKILL);
    CHECK(program.wait().exit.text() == "SIGKILL (Killed)");

    const std::string text = bench.records_text();
    CHECK(text.size() >= seen);
    CHECK(text.back() == '\n');  // one write(2) a record: none is torn
    int next = 0;
    for (const Record& record : whole_records(text))
      if (const auto* event = std::get_if<Event>(&record.body); event && event->key == "number")
        CHECK(event->value == next++);
    CHECK(next > 0);
    REQUIRE(ranks.size() == 1);
    CHECK(wait_until([&] { return is_gone(ranks[0]); }, 3.0));

    CHECK_THAT(bench.run({"rebuild"}).out, Contains("1 runs"));
    const Answer runs = bench.run({"runs", "--json"});
    CHECK(runs.exit.clean());
    CHECK(parse_json(runs.out, "runs").at(0).at("finished") == false);
    CHECK_THAT(bench.run({"show"}).out, Contains("case1"));
  }
}

TEST_CASE("kill -9 of benchctl ends a rank that neither reads nor writes") {
  const BenchctlFolder bench;
  Program program = bench.start_suite({"hang"});
  REQUIRE(wait_until([&] { return bench.recorded("\"kind\":\"samples\""); }));
  const auto ranks = children_of(program.pid());
  REQUIRE(ranks.size() == 1);
  program.signal(SIGKILL);
  CHECK(wait_until([&] { return is_gone(ranks[0]); }, 3.0));
  if (!is_gone(ranks[0])) kill(ranks[0], SIGKILL);
  program.wait();
}

TEST_CASE(
    "a spool at its size limit stops the run with exit code 4 and keeps every complete record") {
  const BenchctlFolder bench;
  rlimit former{};
  getrlimit(RLIMIT_FSIZE, &former);
  const rlimit small{100'000, former.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Program program = bench.start_suite({"", "count"});
  setrlimit(RLIMIT_FSIZE, &former);
  const Answer answer = program.wait();
  CHECK(answer.exit.text() == "exit code 4");
  CHECK_THAT(answer.err, Contains("records.jsonl") && Contains("File too large"));
  const std::string text = bench.records_text();
  CHECK(text.size() > 90'000);
  CHECK(text.back() == '\n');
  CHECK(outcome(whole_records(text), "01.case1").status == Status::ok);
  CHECK_THAT(bench.run({"show"}).out, Contains("case1"));
}

TEST_CASE("a full disk stops the run with exit code 4 and keeps every complete record") {
  const BenchctlFolder bench;
  const auto disk = bench.folder.path() / "runs";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0) {
    WARN("not checked: no right to mount a small file system");
    return;
  }
  {
    const Answer answer = bench.start_suite({"", "count"}).wait();
    CHECK(answer.exit.text() == "exit code 4");
    CHECK_THAT(answer.err, Contains("records.jsonl") && Contains("No space left"));
    const std::string text = bench.records_text();
    CHECK(text.back() == '\n');
    CHECK(outcome(whole_records(text), "01.case1").status == Status::ok);
  }
  CHECK(umount2(disk.c_str(), MNT_DETACH) == 0);
}
