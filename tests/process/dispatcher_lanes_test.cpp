// Several hosts at once, and what becomes of a run when one of them falls out. The hosts are names:
// each rank is a process here, and who answers is the test's to say.
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "core/error.h"
#include "results/run/run_records.h"
#include "tests/process/rank_bench.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

PlanEntry on(const std::string& host, const std::string& id, const Json& params = Json::object()) {
  PlanEntry result = entry(id, params);
  result.job.hosts = {host};
  result.places = {{host, host, 1, 1, false}};
  return result;
}

/// In place of mpirun: runs its last word, the rank program, and forgets the rest.
void play_mpirun(RankBench& bench) {
  const auto path = bench.folder.path() / "mpirun";
  std::ofstream(path) << "#!/bin/sh\nfor word; do last=$word; done\nexec \"$last\"\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  bench.site.mpirun = path.string();
}

/// Only these answer.
HostCheck answering(std::set<std::string> hosts) {
  return [hosts](const std::vector<Place>& places, const LaunchSettings&, const std::string&,
                 const std::string&) {
    std::vector<HostAnswer> answers;
    for (const Place& place : places)
      answers.push_back(
          {place.host, hosts.contains(place.host) ? "" : "does not answer: no route", ""});
    return answers;
  };
}

/// When the job's first record of that kind was made, in seconds.
template <class Body>
double time_of(const RankBench& bench, const std::string& job) {
  for (const Record& record : bench.records())
    if (record.job == job && std::holds_alternative<Body>(record.body))
      return 1e-9 * static_cast<double>(record.time_ns);
  return 0.0;
}

RunRecords records_of(const RankBench& bench) { return read_run(bench.directory.path()); }

}  // namespace

TEST_CASE("jobs on four hosts run in parallel, and every outcome is stored") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.parallel = 4;
  std::vector<PlanEntry> entries;
  for (const char* host : {"n1", "n2", "n3", "n4"})
    for (int i = 0; i < 5; ++i)
      entries.push_back(on(host, std::string(host) + "." + std::to_string(i)));
  bench.run(entries);
  CHECK(bench.finished);
  for (const PlanEntry& entry : entries) {
    CHECK(to_string(bench.outcome(entry.job.id).status) == "ok");
    CHECK(bench.count<Outcome>(entry.job.id) == 1);
  }
  CHECK(bench.directory.logs() == 4);
}

TEST_CASE("a host rests after a job that asks for it, before its next one and not at the end") {
  RankBench bench;
  play_mpirun(bench);
  std::vector<PlanEntry> entries = {on("n1", "01.a"), on("n1", "02.a")};
  for (PlanEntry& entry : entries) entry.cooldown = Seconds{0.4};
  bench.run(entries);
  CHECK(time_of<Outcome>(bench, "02.a") - time_of<Outcome>(bench, "01.a") >= 0.4);
  CHECK(bench.seconds < 0.8);
}

TEST_CASE("no more than --parallel jobs run at once, even if more hosts are free") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.parallel = 2;
  std::vector<PlanEntry> entries;
  for (const char* host : {"n1", "n2", "n3", "n4", "n5"})
    entries.push_back(on(host, host, {{"fault", "slow"}}));
  bench.run(entries);
  std::size_t most = 0;
  for (const PlanEntry& one : entries) {
    const double now = time_of<Phase>(bench, one.job.id);  // its launch
    most = std::max<std::size_t>(most, std::ranges::count_if(entries, [&](const PlanEntry& other) {
                                   return time_of<Phase>(bench, other.job.id) <= now &&
                                          now < time_of<Outcome>(bench, other.job.id);
                                 }));
  }
  CHECK(most == 2);
}

TEST_CASE("a host that stops responding is named and its later jobs are skipped; others continue") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.parallel = 2;
  bench.settings.check_hosts = answering({"n2"});
  bench.run({on("n1", "01.a", {{"fault", "exit3"}}), on("n2", "01.b"), on("n1", "02.a"),
             on("n2", "02.b")});
  CHECK(to_string(bench.outcome("01.a").status) == "failed");
  CHECK_THAT(bench.outcome("01.a").reason, Contains("n1 does not answer: no route"));
  CHECK(to_string(bench.outcome("02.a").status) == "skipped");
  CHECK_THAT(bench.outcome("02.a").reason, Contains("n1 excluded"));
  const RunRecords records = records_of(bench);
  for (const char* job : {"01.a", "02.a"}) {
    INFO(job);
    const auto told = std::ranges::find_if(records.records, [&](const Record& record) {
      const auto* event = std::get_if<Event>(&record.body);
      return event != nullptr && event->key == kHostOutEvent && record.job == job;
    });
    REQUIRE(told != records.records.end());
    CHECK(std::get<Event>(told->body).value.at("host") == "n1");
  }
  for (const char* job : {"01.b", "02.b"}) CHECK(to_string(bench.outcome(job).status) == "ok");
}

TEST_CASE("a rank that fails on a host that answers leaves the host in") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.check_hosts = answering({"n1"});
  bench.run({on("n1", "01.a", {{"fault", "exit3"}}), on("n1", "02.a")});
  CHECK(to_string(bench.outcome("01.a").status) == "failed");
  CHECK(to_string(bench.outcome("02.a").status) == "ok");
}

TEST_CASE("jobs skipped because of a lost host count as missing, failed jobs do not") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.check_hosts = answering({});
  bench.run({on("n1", "01.a", {{"fault", "exit3"}}), on("n1", "02.a")});
  RunRecords records = records_of(bench);
  CHECK(missing_jobs(records) == std::vector<std::string>{"02.a"});
  CHECK(missing_jobs(records, true) == std::vector<std::string>{"01.a", "02.a"});
}

TEST_CASE("another version on one host is that host's failure, not the run's") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.check_hosts = answering({"n1", "n2"});
  PlanEntry other = on("n1", "01.a");
  other.job.env = {{"FAULTY_RANK_START", "version"}};
  bench.run({other, on("n2", "01.b"), on("n1", "02.a")});
  CHECK_THAT(bench.outcome("01.a").reason, Contains("0.0.0+other"));
  CHECK_THAT(bench.outcome("02.a").reason, Contains("n1 excluded: has a version mismatch"));
  CHECK(bench.count<Samples>("01.a") == 0);
  CHECK(to_string(bench.outcome("01.b").status) == "ok");
}

TEST_CASE("ranks placed on too few hosts measure nothing") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.check_hosts = answering({"n1", "n2"});
  PlanEntry pair = on("n1", "01.a");
  pair.job.hosts = {"n1", "n2"};
  pair.places.push_back({"n2", "n2", 1, 1, false});
  bench.run({pair});
  CHECK_THAT(bench.outcome("01.a").reason, Contains("on 1 hosts instead of 2"));
  CHECK(bench.count<Samples>("01.a") == 0);
}

TEST_CASE("a rank that survives SIGKILL excludes its host; the others continue") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.check_hosts = answering({"n1"});
  pid_t wedged = 0;
  bench.settings.signaller = [&](pid_t leader, int signal) {
    // Stands for uninterruptible sleep: signals are accepted and nothing happens.
    if (wedged == 0) wedged = leader;
    if (leader != wedged) signal_session(leader, signal);
  };
  const auto here = [](const std::string& id, const Json& params) {
    PlanEntry result = entry(id, params, 0.5);
    result.places = {{"here", "here", 1, 1, true}};
    return result;
  };
  bench.run({here("01.a", {{"fault", "hang"}}), on("n1", "01.b"), here("02.a", Json::object())});
  REQUIRE(wedged != 0);
  signal_session(wedged, SIGKILL);
  CHECK_THAT(bench.outcome("01.a").reason, Contains("did not end"));
  CHECK_THAT(bench.outcome("02.a").reason, Contains("here excluded: has a stuck process: process"));
  CHECK(to_string(bench.outcome("01.b").status) == "ok");
}

TEST_CASE("a failure without a known host lists the hosts of the ranks") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.check_hosts = answering({"n1", "n2"});
  PlanEntry pair = on("n1", "01.a", {{"fault", "garbage"}});
  pair.job.hosts = {"n1", "n2"};
  pair.job.env = {{"FAULTY_RANK_HOSTS", "2"}};
  pair.places.push_back({"n2", "n2", 1, 1, false});
  bench.run({pair});
  CHECK_THAT(bench.outcome("01.a").reason, Contains("on n[1-2]: printed garbage"));
}

TEST_CASE("an error that ends the run ends it on all hosts") {
  RankBench bench;
  play_mpirun(bench);
  bench.settings.parallel = 2;
  auto other = entry("02.b", Json::object());
  other.job.env = {{"FAULTY_RANK_START", "version"}};
  CHECK_THROWS_AS(bench.run({on("n1", "01.a", {{"fault", "hang"}}), other}), Error);
  CHECK(bench.seconds < 5.0);
}
