#include <fstream>

#include "runner/plan/planner.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

namespace {

Job job(const std::string& id, int value) {
  Job result;
  result.id = id;
  result.case_name = result.probe = "null";
  result.params = {{"value", value}};
  return result;
}

std::string outcome(const std::string& id, double seconds, Status status = Status::ok) {
  Record record;
  record.job = id;
  record.host = "h";
  record.time_ns = 1;
  record.body = Outcome{status, status == Status::ok ? "" : "why", seconds};
  return dump(to_json(record)) + "\n";
}

void write_run(const std::filesystem::path& runs, const std::string& id,
               const std::string& records) {
  std::filesystem::create_directories(runs / id);
  std::ofstream(runs / id / "plan.json")
      << Json{{"jobs", {to_json(job("01.a", 1)), to_json(job("02.b", 2))}}};
  std::ofstream(runs / id / "records.jsonl") << records;
}

}  // namespace

TEST_CASE("a job's last duration is found by its work, regardless of its ID") {
  const TemporaryDirectory folder;
  write_run(folder.path(), "20261120T183005Z-s-0001", outcome("01.a", 9.0));
  write_run(folder.path(), "20261120T183006Z-s-0002", outcome("01.a", 1.5) + outcome("02.b", 2.5));
  write_run(folder.path(), "20261120T183007Z-s-x-0003",
            outcome("01.a", 7.0));  // of the suite "s-x"
  const Durations durations = last_durations(folder.path(), "s");
  CHECK(durations.at(duration_key(job("17.other", 1))).value == 1.5);
  CHECK(durations.at(duration_key(job("17.other", 2))).value == 2.5);
  CHECK_FALSE(durations.contains(duration_key(job("01.a", 3))));
}

TEST_CASE("a failed job gives no duration") {
  const TemporaryDirectory folder;
  write_run(folder.path(), "20261120T183005Z-s-0001", outcome("01.a", 60.0, Status::timed_out));
  CHECK(last_durations(folder.path(), "s").empty());
}

TEST_CASE("no runs, or a damaged one, are no reason to fail") {
  const TemporaryDirectory folder;
  CHECK(last_durations(folder.path() / "none", "s").empty());
  write_run(folder.path(), "20261120T183005Z-s-0001",
            outcome("01.a", 1.0) + "{\"kind\":\"outcome\"");
  CHECK(last_durations(folder.path(), "s").empty());
}
