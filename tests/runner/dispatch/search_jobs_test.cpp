#include "runner/dispatch/search_jobs.h"

#include <fstream>

#include "results/run/run_records.h"
#include "runner/dispatch/run_directory.h"
#include "runner/plan/plan_json.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

namespace {

Plan plan_of_all() {
  Plan plan;
  plan.suite.name = "demo";
  plan.suite.digest = "abc";
  for (const char* name : {"a", "b", "c", "d"})
    plan.inventory.hosts.push_back({name, name, 2, {}, {}});
  PlanEntry entry;
  entry.job.id = "01.all";
  entry.job.case_name = "all";
  entry.job.probe = "collective";
  for (const Host& host : plan.inventory.hosts) {
    entry.job.hosts.push_back(host.name);
    entry.places.push_back(place_on(host, 2));
  }
  entry.job.ranks = 8;
  plan.entries.push_back(entry);
  return plan;
}

Localisation search_of_all() {
  Localisation search;
  search.incident.case_name = "all";
  search.incident.job = "01.all";
  search.incident.searched = 1;
  search.incident.longest_s = 3.0;
  search.step.next = {{"a", "b"}, {"c", "d"}};
  return search;
}

}  // namespace

TEST_CASE("a search job is the searched job on other hosts, with as many ranks per host") {
  const auto entries = search_entries({search_of_all()}, plan_of_all());
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].job.id == "01.all.search.2");
  CHECK(entries[1].job.id == "01.all.search.3");
  CHECK(entries[1].job.case_name == "all.search");
  CHECK(entries[1].job.hosts == std::vector<std::string>{"c", "d"});
  CHECK(entries[1].job.ranks == 4);
  REQUIRE(entries[1].places.size() == 2);
  CHECK(entries[1].places[0].host == "c");
  CHECK(entries[1].expected.value == 3.0);
}

TEST_CASE("a search job on some GPUs has one rank per GPU on each host") {
  Localisation search = search_of_all();
  search.step.next.clear();
  search.devices.resize(1);
  search.devices[0].next = {{{"b", "a"}, {"cuda:1", "cuda:5"}}, {{"b", "a"}, {"cuda:5"}}};
  const auto entries = search_entries({search}, plan_of_all());
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].job.id == "01.all.search.2");
  CHECK(entries[0].job.ranks == 4);
  CHECK(entries[0].places.at(1).ranks == 2);
  CHECK(entries[0].job.part == Json{{"device", "cuda:1,cuda:5"}});
  CHECK(entries[0].job.env.at("BENCH_DEVICE") == "cuda:1,cuda:5");
  CHECK(entries[1].job.ranks == 2);
  CHECK(entries[1].job.binding == "none");
}

TEST_CASE("search jobs are written to the plan before they run") {
  const TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder.path(), "demo", 1);
  directory.write_plan(plan_text(
      plan_of_all(), {{"run", directory.id()}, {"localisation", to_json(SearchBudget{7, 9.0})}}));
  CHECK(plan_searches(directory, {}).empty());
  CHECK(plan_searches(directory, {search_of_all()}).size() == 2);
  const RunRecords run = read_run(directory.path());
  REQUIRE(run.jobs.size() == 3);
  CHECK(run.jobs[0].search_of.empty());
  CHECK(run.jobs[2].search_of == "01.all");
  CHECK(missing_jobs(run).size() == 3);
  const auto budget = search_budget(run.plan);
  REQUIRE(budget);
  CHECK(budget->max_jobs == 7);
  CHECK(budget->max_s == 9.0);
  const Plan again = plan_from_json(read_json(directory.path() / "plan.json"), "plan.json");
  CHECK(again.entries.at(2).job.ranks == 4);
  CHECK(text_field(run.plan, "run") == directory.id());
}

TEST_CASE("a step of a search reads only the records since the step before") {
  const TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder.path(), "demo", 1);
  directory.write_plan(plan_text(
      plan_of_all(), {{"run", directory.id()}, {"localisation", to_json(SearchBudget{7, 9.0})}}));
  Spool spool(directory.records_path());
  spool.append(own_record("01.all", Outcome{Status::failed, "hung", 0.5}));
  RunRequest request;
  set_search(request, SearchBudget{});
  const std::vector<PlanEntry> first = request.follow_up(directory);
  REQUIRE(first.size() == 2);

  const auto read = std::filesystem::file_size(directory.records_path());
  std::fstream(directory.records_path()) << std::string(read - 1, '#');
  spool.append(own_record(first[0].job.id, Outcome{Status::failed, "hung", 0.5}));
  spool.append(own_record(first[1].job.id, Outcome{Status::ok, "", 0.5}));
  CHECK(read_run(directory.path()).records.size() == 2);
  const std::vector<PlanEntry> second = request.follow_up(directory);
  REQUIRE_FALSE(second.empty());
  CHECK(second[0].job.id == "01.all.search.3");
}
