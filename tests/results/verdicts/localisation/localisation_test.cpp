#include "results/verdicts/localisation/localisation.h"

#include <random>
#include <set>

#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "results/output/verdicts/acceptance_json.h"
#include "results/output/verdicts/acceptance_output.h"
#include "tests/support/catch.h"
#include "tests/support/fleet.h"
#include "tests/support/rendered.h"

using namespace bench;

namespace {

constexpr double kGood = 400e6, kBad = 11e6, kFloor = 100e6;
const std::string kBus = "collective.busbw", kLatency = "collective.latency";

/// A fleet with a gate on bus bandwidth and its hosts in the plan.
Fleet gated(std::size_t hosts) {
  Fleet fleet(hosts);
  fleet.run.plan["gates"] = {{"collective", {{{"metric", "busbw"}, {"min", kFloor}}}}};
  fleet.run.plan["localisation"] = to_json(SearchBudget{});
  for (const std::string& host : fleet.settings.hosts)
    fleet.run.plan["inventory"]["hosts"].push_back({{"name", host}});
  return fleet;
}

/// Runs the requested jobs until the search ends; returns their number.
template <class Run>
std::size_t follow(Fleet& fleet, Run run) {
  const std::string searched = fleet.run.jobs.front().id;
  for (std::size_t jobs = 0;; ++jobs) {
    const RunReport report = make_run_report(fleet.run);
    Hosts next;
    for (const Localisation& one : report.localisations)
      if (!one.step.next.empty() && next.empty()) next = one.step.next.front();
    if (next.empty()) return jobs;
    REQUIRE(jobs < 50);
    run(next);
    fleet.run.jobs.back().search_of = searched;
    fleet.run.jobs.back().case_name += ".search";
  }
}

std::size_t follow_slow(Fleet& fleet, const std::string& slow) {
  return follow(fleet, [&](const Hosts& hosts) {
    const bool has = std::ranges::find(hosts, slow) != hosts.end();
    fleet.job(kBus, hosts, fleet.samples(kBus, has ? kBad : kGood));
  });
}

}  // namespace

TEST_CASE("the slow host of a job that misses its gate is isolated, with evidence") {
  Fleet fleet = gated(8);
  fleet.job(kBus, fleet.settings.hosts, fleet.samples(kBus, kBad));
  CHECK(follow_slow(fleet, "node06") == 6);
  const RunReport report = make_run_report(fleet.run);
  REQUIRE(report.localisations.size() == 1);
  const Localisation& found = report.localisations[0];
  REQUIRE(found.step.findings.size() == 1);
  CHECK(found.step.findings[0].kind == SearchFindingKind::host);
  CHECK(found.step.findings[0].hosts == Hosts{"node06"});
  CHECK(found.incident.slow);
  const std::string text = to_text(report, {false, false, 1000});
  CHECK_THAT(text,
             Catch::Contains("host node06: with it 11.00 MB/s on node[05-06], 11.00 MB/s on"));
  CHECK(text.find("collective.search") == std::string::npos);
  CHECK(report.gates.size() == 1);
  CHECK(report.exit_code == ExitCode::failed);
}

TEST_CASE("search jobs change neither the outcome nor the gates of a run") {
  Fleet fleet = gated(4);
  fleet.job(kBus, fleet.settings.hosts, fleet.samples(kBus, kBad));
  const RunReport before = make_run_report(fleet.run);
  follow(fleet, [&](const Hosts& hosts) {
    fleet.job(kBus, hosts, Outcome{Status::failed, "a rank ended", 1.0});
  });
  const RunReport after = make_run_report(fleet.run);
  CHECK(after.outcome == before.outcome);
  CHECK(after.exit_code == before.exit_code);
}

TEST_CASE("a small job that meets the gate of a large one is slow if worse than its equals") {
  Fleet fleet = gated(4);
  fleet.job(kBus, fleet.settings.hosts, fleet.samples(kBus, 0.8 * kFloor));
  follow(fleet, [&](const Hosts& hosts) {
    const bool slow = std::ranges::find(hosts, "node02") != hosts.end();
    fleet.job(kBus, hosts, fleet.samples(kBus, slow ? 1.5 * kFloor : 2.0 * kFloor));
  });
  const RunReport report = make_run_report(fleet.run);
  REQUIRE(report.localisations.at(0).step.findings.size() == 1);
  CHECK(report.localisations[0].step.findings[0].hosts == Hosts{"node02"});
}

TEST_CASE("a rate above the gate is compared with others only after repeats of both") {
  Fleet fleet = gated(4);
  fleet.job(kBus, fleet.settings.hosts, fleet.samples(kBus, 0.8 * kFloor));
  std::set<Hosts> measured;
  follow(fleet,
         [&](const Hosts& hosts) {  // the first job on each set with node02 is slow by chance
           const bool slow =
               std::ranges::find(hosts, "node02") != hosts.end() && !measured.contains(hosts);
           fleet.job(kBus, hosts, fleet.samples(kBus, slow ? 1.2 * kFloor : 4 * kFloor));
           measured.insert(hosts);
         });
  const RunReport report = make_run_report(fleet.run);
  REQUIRE_FALSE(report.localisations.at(0).step.findings.empty());
  for (const SearchFinding& finding : report.localisations[0].step.findings)
    CHECK_FALSE(isolates_cause(finding));
}

TEST_CASE("a gate among the rates of healthy pairs, or above all, accuses none of them") {
  std::mt19937 random(22);
  std::uniform_real_distribution<double> near(0.75, 1.02), far(0.36, 0.62);
  for (int i = 0; i < 40; ++i) {
    INFO(i);
    auto& pairs = i % 2 == 0 ? near : far;
    Fleet fleet = gated(4);
    fleet.job(kBus, fleet.settings.hosts, fleet.samples(kBus, 0.2 * kFloor));
    follow(fleet, [&](const Hosts& hosts) {
      const double rate = hosts.size() == 4 ? 0.2 : pairs(random);
      fleet.job(kBus, hosts, fleet.samples(kBus, rate * kFloor));
    });
    const auto findings = make_run_report(fleet.run).localisations.at(0).step.findings;
    REQUIRE_FALSE(findings.empty());
    for (const SearchFinding& finding : findings) CHECK_FALSE(isolates_cause(finding));
  }
}

TEST_CASE("a time beyond its gate accuses a host only if longer than its equals'") {
  for (const bool sick : {false, true}) {
    INFO(sick);
    Fleet fleet = gated(4);
    fleet.run.plan["gates"]["collective"] = {{{"metric", "latency"}, {"max", 100e-6}}};
    fleet.job(kLatency, fleet.settings.hosts, fleet.samples(kLatency, 1000e-6));
    follow(fleet, [&](const Hosts& hosts) {
      const bool slow = sick && std::ranges::find(hosts, "node03") != hosts.end();
      const double time = hosts.size() == 4 ? 1000e-6 : slow ? 250e-6 : 50e-6;
      fleet.job(kLatency, hosts, fleet.samples(kLatency, sick ? time : time * 2.2));
    });
    const auto findings = make_run_report(fleet.run).localisations.at(0).step.findings;
    REQUIRE(findings.size() == 1);
    CHECK(isolates_cause(findings[0]) == sick);
    if (sick) CHECK(findings[0].hosts == Hosts{"node03"});
  }
}

TEST_CASE("40 searches under load accuse no healthy host, and a slow one is still isolated") {
  std::mt19937 random(22);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  // Other work takes between nothing and nine tenths of the rate, of half of the jobs.
  const auto loaded = [&] { return uniform(random) < 0.5 ? 1.0 : 1.0 - 0.9 * uniform(random); };
  std::size_t isolated = 0;
  for (int i = 0; i < 40; ++i) {
    const bool sick = i % 4 == 0;
    Fleet fleet = gated(4);
    fleet.job(kBus, fleet.settings.hosts, fleet.samples(kBus, 0.4 * kFloor));
    follow(fleet, [&](const Hosts& hosts) {
      const bool slow = sick && std::ranges::find(hosts, "node03") != hosts.end();
      // Load leaves even pairs above the gate: only comparisons could accuse.
      const double rate = slow ? 0.1 * kFloor : std::max(1.05 * kFloor, 9.5 * kFloor * loaded());
      fleet.job(kBus, hosts, fleet.samples(kBus, rate));
    });
    const RunReport report = make_run_report(fleet.run);
    for (const SearchFinding& finding : report.localisations.at(0).step.findings) {
      if (!isolates_cause(finding)) continue;
      INFO(i);
      CHECK(sick);
      CHECK(finding.hosts == Hosts{"node03"});
      ++isolated;
    }
  }
  CHECK(isolated == 10);
}

TEST_CASE("acceptance fails the isolated host and clears the others") {
  Fleet fleet = gated(4);
  fleet.job(kBus, fleet.settings.hosts, Outcome{Status::timed_out, "no outcome within 60 s", 60.0});
  follow(fleet, [&](const Hosts& hosts) {
    if (std::ranges::find(hosts, "node03") != hosts.end())
      fleet.job(kBus, hosts, Outcome{Status::timed_out, "no outcome within 60 s", 60.0});
    else
      fleet.job(kBus, hosts, fleet.samples(kBus, kGood));
  });
  const Acceptance acceptance = judge_acceptance({fleet.run}, fleet.settings);
  for (const HostAcceptance& host : acceptance.hosts) {
    INFO(host.host);
    const bool bad = host.host == "node03";
    CHECK((host.verdict == Verdict::fail) == bad);
    CHECK(std::ranges::any_of(host.reasons,
                              [](const Reason& r) { return r.gate == "localised"; }) == bad);
    CHECK(std::ranges::none_of(host.reasons, [](const Reason& r) {
      return r.text.find("timed_out") != std::string::npos && r.verdict != Verdict::fail;
    }));
  }
  CHECK_THAT(to_text(acceptance, {false, false, 1000}),
             Catch::Contains("host node03: with it jobs fail on"));
  CHECK(to_json(acceptance)["localisation"][0]["findings"][0]["hosts"] == Json{"node03"});
}

TEST_CASE("the reasons of each affected host say why a search found nothing") {
  Fleet fleet = gated(4);
  const Outcome timed_out{Status::timed_out, "no outcome within 60 s", 60.0};
  fleet.job(kBus, fleet.settings.hosts, timed_out);
  follow(fleet, [&](const Hosts& hosts) {
    if (hosts.size() == 4)
      fleet.job(kBus, hosts, timed_out);
    else
      fleet.job(kBus, hosts, fleet.samples(kBus, kGood));
  });
  const Localisation found = make_run_report(fleet.run).localisations.at(0);
  REQUIRE_FALSE(found.step.findings.empty());
  const Acceptance acceptance = judge_acceptance({fleet.run}, fleet.settings);
  for (const HostAcceptance& host : acceptance.hosts)
    for (const SearchFinding& finding : found.step.findings)
      CHECK(std::ranges::any_of(host.reasons, [&](const Reason& reason) {
        return reason.next_step.find(describe(finding, found.incident)) != std::string::npos;
      }));
}

TEST_CASE("a budget in jobs or seconds ends the search and lists what is left") {
  Fleet fleet = gated(8);
  fleet.job(kBus, fleet.settings.hosts, fleet.samples(kBus, kBad));
  fleet.run.plan["localisation"] = to_json(SearchBudget{3, {}});
  CHECK(follow_slow(fleet, "node01") == 3);
  const RunReport report = make_run_report(fleet.run);
  CHECK(report.localisations.at(0).spent);
  CHECK(report.localisations[0].step.findings.empty());
  CHECK(to_text(report, {false, false, 1000}).find("budget exhausted, not yet searched: ") !=
        std::string::npos);

  Fleet slow = gated(8);
  slow.job(kBus, slow.settings.hosts, Outcome{Status::timed_out, "no outcome within 60 s", 60.0});
  slow.run.plan["localisation"] = to_json(SearchBudget{40, 130.0});
  CHECK(follow(slow, [&](const Hosts& hosts) {
          slow.job(kBus, hosts, Outcome{Status::timed_out, "no outcome within 60 s", 60.0});
        }) == 2);
}

TEST_CASE("without a budget a search concludes from the run's own jobs") {
  Fleet fleet = gated(4);
  fleet.run.plan.erase("localisation");
  fleet.job(kBus, fleet.settings.hosts, fleet.samples(kBus, kBad));
  CHECK(make_run_report(fleet.run).localisations.empty());

  Fleet pairs = gated(4);
  pairs.run.plan.erase("localisation");
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = a + 1; b < 4; ++b) pairs.job(kBus, a, b, b == 3 ? kBad : kGood);
  const RunReport report = make_run_report(pairs.run);
  REQUIRE(report.localisations.size() == 1);
  CHECK(report.localisations[0].step.findings.at(0).hosts == Hosts{"node04"});
  CHECK(report.localisations[0].incident.searched == 0);
}

TEST_CASE("a job disturbed by other work is searched only if its best sample misses by half") {
  const auto searched = [](double rate) {
    Fleet fleet = gated(4);
    Samples samples = fleet.samples(kBus, rate);
    samples.flags.assign(samples.values.size(), kCrowded);
    fleet.job(kBus, fleet.settings.hosts, samples);
    return make_run_report(fleet.run).localisations.size();
  };
  CHECK(searched(0.4 * kFloor) == 1);
  CHECK(searched(0.6 * kFloor) == 0);
}

TEST_CASE("a host that dropped out is known: no search") {
  Fleet fleet = gated(4);
  fleet.job(kBus, fleet.settings.hosts,
            Outcome{Status::failed, "node02 does not answer: connection refused", 5.0});
  CHECK(make_run_report(fleet.run).localisations.size() ==
        1);  // the reason text alone has no effect
  fleet.out("node02", "does not answer: connection refused");
  CHECK(make_run_report(fleet.run).localisations.empty());
}
