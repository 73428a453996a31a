#include "runner/acceptance/accept_runs.h"

#include "runner/acceptance/drain.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

PlanEntry entry(const std::string& id, const std::string& case_name,
                std::vector<std::string> hosts) {
  PlanEntry one;
  one.job.id = id;
  one.job.case_name = case_name;
  one.job.hosts = std::move(hosts);
  one.expected = Seconds{2.0};
  return one;
}

HostAcceptance host_with(const std::string& name, Verdict verdict, std::vector<Reason> reasons) {
  HostAcceptance host;
  host.host = name;
  host.verdict = verdict;
  host.reasons = std::move(reasons);
  return host;
}

Reason open_reason(const std::string& case_name) {
  Reason reason{Verdict::inconclusive, "peers", case_name};
  reason.text = "not known well enough";
  reason.more_runs = true;
  return reason;
}

}  // namespace

TEST_CASE("only open cases of inconclusive hosts are rerun, never with a host that dropped out") {
  Plan plan;
  plan.entries = {entry("1", "gemm", {"a"}), entry("2", "gemm", {"b"}),
                  entry("3", "pairs", {"a", "b"}), entry("4", "pairs", {"a", "c"}),
                  entry("5", "clock", {"a"})};
  Acceptance acceptance;
  Reason gone{Verdict::fail, "launch"};
  acceptance.hosts = {
      host_with("a", Verdict::inconclusive, {open_reason("gemm"), open_reason("pairs")}),
      host_with("b", Verdict::pass, {}), host_with("c", Verdict::fail, {gone})};
  const Plan more = plan_of_open_cases(plan, acceptance, 9);
  REQUIRE(more.entries.size() == 2);
  CHECK(more.entries[0].job.id == "1");
  CHECK(more.entries[1].job.id == "3");
  CHECK(more.expected.value == 4.0);
  // With its peers: cases of single hosts on all of them but those that dropped out.
  const Plan all = plan_of_open_cases(plan, acceptance, 9, Again::with_peers);
  REQUIRE(all.entries.size() == 3);
  CHECK(all.entries[1].job.id == "2");
}

TEST_CASE("reasons that more runs cannot change cause no rerun") {
  Plan plan;
  plan.entries = {entry("1", "gemm", {"a"})};
  Reason alone = open_reason("gemm");
  alone.more_runs = false;
  Acceptance acceptance;
  acceptance.hosts = {host_with("a", Verdict::inconclusive, {alone})};
  CHECK(plan_of_open_cases(plan, acceptance, 9).entries.empty());
}

TEST_CASE("what keeps a host from a verdict is rerun first, and no case beyond the runs allowed") {
  Plan plan;
  plan.entries = {entry("1", "gemm", {"a"}), entry("2", "clock", {"a"})};
  Unresolved noisy{"clock", "clock.frequency"};
  noisy.hosts = {"a"};
  noisy.runs = 5.0;
  Acceptance acceptance;
  acceptance.hosts = {host_with("a", Verdict::inconclusive, {open_reason("gemm")})};
  acceptance.unresolved = {noisy};
  const auto rerun = [&](const std::set<std::string>& done) {
    std::vector<std::string> ids;
    for (const PlanEntry& one :
         plan_of_open_cases(plan, acceptance, 9, Again::open_hosts, done).entries)
      ids.push_back(one.job.id);
    return ids;
  };
  CHECK(rerun({}) == std::vector<std::string>{"1"});
  CHECK(rerun({"gemm"}) == std::vector<std::string>{"2"});
  CHECK(rerun({"gemm", "clock"}).empty());
}

TEST_CASE("what is unresolved on all hosts is rerun if the runs allowed can resolve it") {
  Plan plan;
  plan.entries = {entry("1", "gemm", {"a"}), entry("2", "gemm", {"b"}), entry("3", "clock", {"a"})};
  Unresolved one{"gemm", "gemm.throughput"};
  one.hosts = {"b"};
  Acceptance acceptance;
  acceptance.hosts = {host_with("a", Verdict::pass, {}), host_with("b", Verdict::pass, {})};
  for (const auto& [runs, jobs] :
       {std::pair{9.0, 1u}, std::pair{10.0, 0u}, std::pair{kNoValue, 0u}}) {
    one.runs = runs;
    acceptance.unresolved = {one};
    CHECK(plan_of_open_cases(plan, acceptance, 9).entries.size() == jobs);
  }
}

TEST_CASE("failed hosts are drained with their reason, and others are not") {
  Reason slow{Verdict::fail, "peers"};
  slow.text = "gemm.throughput: 5 % worse; it's slow";
  Acceptance acceptance;
  acceptance.hosts = {host_with("a", Verdict::pass, {}), host_with("b", Verdict::fail, {slow})};
  const auto list = drains(acceptance);
  REQUIRE(list.size() == 1);
  CHECK(
      shell_words(list[0].command) ==
      "scontrol update NodeName=b State=DRAIN 'Reason=peers: gemm.throughput: 5 % worse; it s slow "
      "(benchctl accept)'");
}

TEST_CASE("a command that cannot run affects only its host") {
  std::vector<Drain> list = {
      {"a", {"/nonexistent/scontrol", "update"}}, {"b", {"true"}}, {"c", {"false"}}};
  run_drains(list);
  CHECK_FALSE(list[0].ran);
  CHECK_FALSE(list[0].trouble.empty());
  CHECK(list[1].ran);
  CHECK(list[2].trouble.find("exit code 1") != std::string::npos);
}

TEST_CASE("arguments are quoted for a shell") {
  CHECK(shell_words({"a", "b c", "d'e", ""}) == "a 'b c' 'd'\\''e' ''");
}
