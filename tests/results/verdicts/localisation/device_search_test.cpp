// Searches for a GPU in a fleet of multi-GPU hosts: requested jobs are answered according to the
// injected fault.
#include "results/verdicts/localisation/device_search.h"

#include <functional>
#include <random>

#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "results/output/verdicts/acceptance_json.h"
#include "results/output/verdicts/acceptance_output.h"
#include "results/verdicts/localisation/localisation.h"
#include "tests/support/catch.h"
#include "tests/support/fleet.h"
#include "tests/support/rendered.h"

using namespace bench;

namespace {

const std::string kRate = "collective.busbw";

/// Whether a job on these GPUs of these hosts shows the fault.
using GpuFault = std::function<bool(const Hosts&, const Devices&)>;

bool among(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

GpuFault gpus_of(const std::string& host, const Devices& devices) {
  return [=](const Hosts& hosts, const Devices& driven) {
    return among(hosts, host) && std::ranges::all_of(devices, [&](const std::string& device) {
             return among(driven, device);
           });
  };
}

struct GpuFleet : Fleet {
  int gpus;
  bool fails;  // the fault makes jobs fail; else a tenth as fast
  GpuFault fault;
  std::size_t jobs = 0;
  std::function<double()> load = [] { return 1.0; };  // share of the rate that other work leaves

  GpuFleet(std::size_t hosts, int gpus_of_each, bool wrong_fails, GpuFault wrong)
      : Fleet(hosts), gpus(gpus_of_each), fails(wrong_fails), fault(std::move(wrong)) {
    // Rate with all GPUs; fewer reach less, so the gate does not apply to them.
    run.plan["gates"] = {{"collective", {{{"metric", "busbw"}, {"min", 0.7e9 * gpus}}}}};
    run.plan["localisation"] = to_json(SearchBudget{});
    for (const std::string& host : settings.hosts)
      run.plan["inventory"]["hosts"].push_back({{"name", host}});
  }

  void gpu_job(const Hosts& hosts, const Devices& devices = {}) {
    const Devices driven = devices.empty() ? first_gpus(gpus) : devices;
    const bool shows = fault(hosts, driven);
    const double rate = 1e9 * static_cast<double>(driven.size()) * (shows ? 0.1 : 1.0) * load();
    Samples result = samples(kRate, rate);
    result.over = "max";
    if (fails && shows)
      job(kRate, hosts, Outcome{Status::failed, "a rank ended", 1.0});
    else if (hosts.size() == 1 && driven.size() == 1)
      job(kRate, hosts, Outcome{Status::skipped, "needs at least two ranks", 1.0});
    else
      job(kRate, hosts, result, Outcome{Status::ok, "", 1.0});
    PlannedJob& planned = run.jobs.back();
    planned.device = "cuda";
    planned.ranks = static_cast<int>(hosts.size() * driven.size());
    if (!devices.empty()) planned.part = {{"device", device_words(devices)}};
  }

  void search_job(const Hosts& hosts, const Devices& devices) {
    const std::string searched = run.jobs.front().id;
    gpu_job(hosts, devices);
    run.jobs.back().search_of = searched;
    run.jobs.back().case_name += ".search";
    ++jobs;
  }

  /// Runs the search of the first job to its end.
  Localisation search() {
    for (;;) {
      const RunReport report = make_run_report(run);
      REQUIRE_FALSE(report.localisations.empty());
      const Localisation one = report.localisations.front();
      if (!goes_on(one)) return one;
      REQUIRE(jobs < 60);
      for (const Hosts& hosts : one.step.next) search_job(hosts, {});
      for (const DeviceSearch& search : one.devices)
        for (const DeviceJob& next : search.next) search_job(next.hosts, next.devices);
    }
  }

  Localisation search_of_all() {
    gpu_job(settings.hosts);
    return search();
  }
};

const SearchFinding& only_finding(const Localisation& found) {
  REQUIRE(found.devices.size() == 1);
  REQUIRE(found.devices[0].step.findings.size() == 1);
  return found.devices[0].step.findings[0];
}

}  // namespace

TEST_CASE("any one bad GPU of a host is isolated, failing or slow") {
  for (const bool fails : {true, false})
    for (const int gpus : {2, 3, 4, 8}) {
      const Devices devices = first_gpus(gpus);
      for (const std::string& bad : devices) {
        GpuFleet fleet(4, gpus, fails, gpus_of("node03", {bad}));
        const Localisation found = fleet.search_of_all();
        INFO(gpus << " GPUs, " << bad << (fails ? " fails" : " is slow") << ", " << fleet.jobs
                  << " jobs");
        const SearchFinding& finding = only_finding(found);
        CHECK(found.devices[0].form.host == "node03");
        CHECK(finding.kind == SearchFindingKind::host);
        CHECK(finding.hosts == Devices{bad});
        // 4 for the host, 2 log2 of the GPUs plus one repeat; slow sets, pairs of hosts and a
        // reference of each size three times.
        CHECK(fleet.jobs <= (fails ? 15U : 41U));
        CHECK_FALSE(is_spent(found));
      }
    }
}

TEST_CASE("one bad GPU of a single-host job is isolated by jobs on that host") {
  for (const bool fails : {true, false})
    for (const std::string& bad : first_gpus(8)) {
      GpuFleet fleet(2, 8, fails, gpus_of("node01", {bad}));
      fleet.gpu_job({"node01"});
      fleet.gpu_job({"node02"});
      const Localisation found = fleet.search();
      INFO(bad << (fails ? " fails" : " is slow") << ", " << fleet.jobs << " jobs");
      const SearchFinding& finding = only_finding(found);
      CHECK(finding.kind == SearchFindingKind::host);
      CHECK(finding.hosts == Devices{bad});
      CHECK(found.devices[0].form.partner.empty());
      CHECK(fleet.jobs <= (fails ? 10U : 25U));
    }
}

TEST_CASE("searches under load accuse no healthy GPU, and a slow one is still isolated") {
  std::mt19937_64 random(20261124);
  std::uniform_real_distribution<double> uniform;
  int isolated = 0;
  constexpr int kSearches = 40;
  for (const bool slow : {false, true})
    for (int i = 0; i < kSearches; ++i) {
      GpuFleet fleet(2, 8, false, slow ? gpus_of("node01", {"cuda:5"}) : GpuFault{});
      if (!slow) fleet.fault = [&](const Hosts&, const Devices&) { return fleet.jobs == 0; };
      fleet.gpu_job({"node01"});
      if (!slow) fleet.fault = [](const Hosts&, const Devices&) { return false; };
      fleet.gpu_job({"node02"});
      fleet.load = [&] { return uniform(random) < 0.5 ? 1.0 : 1.0 - 0.6 * uniform(random); };
      for (const DeviceSearch& search : fleet.search().devices)
        for (const SearchFinding& finding : search.step.findings) {
          if (finding.kind != SearchFindingKind::host && finding.kind != SearchFindingKind::link)
            continue;
          INFO("search " << i << (slow ? ", slow: " : ", healthy: ") << finding.hosts.front());
          CHECK((slow && finding.hosts == Devices{"cuda:5"}));
          ++isolated;
        }
    }
  CHECK(isolated >= 0.75 * kSearches);
}

TEST_CASE("a bad link between two GPUs of a host is reported as a link") {
  for (const bool fails : {true, false})
    for (const auto& [a, b] : {std::pair{"cuda:1", "cuda:2"},
                               {"cuda:0", "cuda:7"},
                               {"cuda:3", "cuda:4"},
                               {"cuda:6", "cuda:7"}}) {
      GpuFleet fleet(4, 8, fails, gpus_of("node02", {a, b}));
      const Localisation found = fleet.search_of_all();
      INFO(a << " and " << b << (fails ? " fail" : " are slow") << " together");
      const SearchFinding& finding = only_finding(found);
      CHECK(finding.kind == SearchFindingKind::link);
      CHECK(finding.hosts == Devices{a, b});
    }
}

TEST_CASE("two bad GPUs of a host are both isolated") {
  for (const bool fails : {true, false}) {
    GpuFleet fleet(4, 8, fails, [](const Hosts& hosts, const Devices& devices) {
      return among(hosts, "node04") && (among(devices, "cuda:1") || among(devices, "cuda:6"));
    });
    const Localisation found = fleet.search_of_all();
    REQUIRE(found.devices.size() == 1);
    Devices named;
    for (const SearchFinding& finding : found.devices[0].step.findings)
      named.insert(named.end(), finding.hosts.begin(), finding.hosts.end());
    std::ranges::sort(named);
    CHECK(named == Devices{"cuda:1", "cuda:6"});
  }
}

TEST_CASE("a symptom of all GPUs of a host isolates none") {
  for (const bool fails : {true, false})
    for (const int gpus : {2, 4, 8}) {
      GpuFleet fleet(4, gpus, fails, gpus_of("node03", {}));
      const Localisation found = fleet.search_of_all();
      INFO(gpus << " GPUs, " << fleet.jobs << " jobs");
      CHECK(found.step.findings.at(0).hosts == Hosts{"node03"});
      CHECK(only_finding(found).kind == SearchFindingKind::everywhere);
      CHECK_THAT(lines_of(found.devices[0], found.incident).at(0),
                 Catch::Contains("no single device"));
    }
}

TEST_CASE("without another host, a symptom of all GPUs isolates none") {
  for (const bool fails : {true, false}) {
    GpuFleet fleet(1, 8, fails, gpus_of("node01", {}));
    fleet.gpu_job({"node01"});
    const Localisation found = fleet.search();
    INFO(fleet.jobs << " jobs");
    const SearchFindingKind kind = only_finding(found).kind;
    CHECK(kind == (fails ? SearchFindingKind::everywhere : SearchFindingKind::undecided));
  }
}

TEST_CASE("two interdependent GPUs of one host are reported as not isolated") {
  GpuFleet fleet(2, 2, true, gpus_of("node01", {"cuda:0"}));
  fleet.gpu_job({"node01"});
  fleet.run.jobs.back().ranks = 2;
  fleet.fault = [](const Hosts& hosts, const Devices& devices) {
    return among(hosts, "node01") && devices.size() == 2;
  };
  const Localisation found = fleet.search();
  CHECK(only_finding(found).kind == SearchFindingKind::undecided);
  CHECK_THAT(lines_of(found.devices[0], found.incident).at(0),
             Catch::Contains("cannot be isolated"));
}

TEST_CASE("a fault that is not reproduced isolates no GPU") {
  std::size_t asked = 0;
  GpuFleet fleet(1, 8, true, [&](const Hosts&, const Devices&) { return asked++ == 0; });
  fleet.gpu_job({"node01"});
  const Localisation found = fleet.search();
  CHECK(only_finding(found).kind == SearchFindingKind::flaky);
}

TEST_CASE("with one rank per host the host is isolated, with the reason why no GPU is") {
  GpuFleet fleet(4, 1, true, gpus_of("node03", {}));
  const Localisation found = fleet.search_of_all();
  CHECK(found.step.findings.at(0).hosts == Hosts{"node03"});
  REQUIRE(found.devices.size() == 1);
  CHECK_THAT(lines_of(found.devices[0], found.incident).at(0),
             Catch::Contains("one rank per host drives one GPU"));
}

TEST_CASE("CPU and single-GPU jobs start no GPU search") {
  GpuFleet fleet(4, 8, true, gpus_of("node03", {}));
  fleet.gpu_job(fleet.settings.hosts);
  fleet.run.jobs.back().device = "host";
  CHECK(make_run_report(fleet.run).localisations.at(0).devices.empty());
  GpuFleet one(1, 1, true, gpus_of("node01", {}));
  one.gpu_job({"node01"});
  CHECK(make_run_report(one.run).localisations.empty());
}

TEST_CASE("both searches share the budget, and unsearched GPUs are listed") {
  GpuFleet fleet(4, 8, true, gpus_of("node03", {"cuda:5"}));
  fleet.run.plan["localisation"] = to_json(SearchBudget{7, {}});
  const Localisation found = fleet.search_of_all();
  CHECK(fleet.jobs <= 7);
  CHECK(is_spent(found));
  CHECK_THAT(lines_of(found.devices.at(0), found.incident).back(),
             Catch::Contains("not yet searched: cuda:"));
  fleet.run.plan["localisation"] = to_json(SearchBudget{40, {}});
  CHECK(only_finding(fleet.search()).hosts == Devices{"cuda:5"});
}

TEST_CASE("report, JSON and acceptance name the GPU with its evidence") {
  GpuFleet fleet(4, 8, false, gpus_of("node03", {"cuda:5"}));
  fleet.search_of_all();
  const std::string text = to_text(make_run_report(fleet.run), {false, false, 1000});
  CHECK_THAT(text, Catch::Contains("device cuda:5 of node03: with it 100.0 MB/s on cuda:5, ") &&
                       Catch::Contains("(with the same GPUs of node04)"));
  const Acceptance acceptance = judge_acceptance({fleet.run}, fleet.settings);
  CHECK(to_json(acceptance)["localisation"][0]["devices"][0]["findings"][0]["devices"] ==
        Json{"cuda:5"});
  for (const HostAcceptance& host : acceptance.hosts) {
    INFO(host.host);
    CHECK((host.verdict == Verdict::fail) == (host.host == "node03"));
  }
  CHECK_THAT(to_text(acceptance, {false, false, 4000}), Catch::Contains("device cuda:5 of node03"));
}

TEST_CASE("rails are searched separately, and the NIC is named with its rail") {
  GpuFleet fleet(4, 8, true, gpus_of("node02", {}));
  for (int rail = 0; rail < 3; ++rail) {
    if (rail != 1) fleet.fault = [](const Hosts&, const Devices&) { return false; };
    if (rail == 1) fleet.fault = gpus_of("node02", {});
    fleet.gpu_job(fleet.settings.hosts);
    fleet.run.jobs.back().part = {{"rail", rail}, {"card", "mlx5_" + std::to_string(rail)}};
  }
  std::swap(fleet.run.jobs[0], fleet.run.jobs[1]);  // the searched job comes first
  fleet.fault = gpus_of("node02", {});
  for (int step = 0; step < 20; ++step) {
    const RunReport report = make_run_report(fleet.run);
    REQUIRE(report.localisations.size() == 1);
    const std::vector<Hosts> next = report.localisations[0].step.next;
    if (next.empty()) break;
    for (const Hosts& hosts : next) {
      fleet.search_job(hosts, {});
      fleet.run.jobs.back().part = fleet.run.jobs.front().part;
    }
  }
  const std::string text = to_text(make_run_report(fleet.run), {false, false, 1000});
  CHECK_THAT(text, Catch::Contains("host node02 on rail 1 (mlx5_1): with it"));
  CHECK_THAT(text, Catch::Contains("the job already uses only part of its hosts"));
}

TEST_CASE("a case with axes finds the series of its search") {
  GpuFleet fleet(4, 8, false, gpus_of("node03", {"cuda:5"}));
  fleet.gpu_job(fleet.settings.hosts);
  fleet.run.jobs.back().params = {{"timing", "isolated"}};
  const auto good = fleet.fault;
  fleet.fault = [](const Hosts&, const Devices&) { return false; };
  fleet.gpu_job(fleet.settings.hosts);
  fleet.run.jobs.back().params = {{"timing", "pipelined"}};
  fleet.fault = good;
  for (int step = 0; step < 40; ++step) {
    const RunReport report = make_run_report(fleet.run);
    REQUIRE_FALSE(report.localisations.empty());
    const Localisation one = report.localisations.front();
    if (!goes_on(one)) break;
    for (const Hosts& hosts : one.step.next) fleet.search_job(hosts, {});
    for (const DeviceSearch& search : one.devices)
      for (const DeviceJob& next : search.next) fleet.search_job(next.hosts, next.devices);
    for (PlannedJob& job : fleet.run.jobs)
      if (!job.search_of.empty()) job.params = {{"timing", "isolated"}};
  }
  const RunReport report = make_run_report(fleet.run);
  CHECK(only_finding(report.localisations.at(0)).hosts == Devices{"cuda:5"});
}

TEST_CASE("a GPU with an unrepeated symptom is not isolated") {
  std::size_t asked = 0;
  GpuFleet fleet(4, 8, true, [&](const Hosts& hosts, const Devices& devices) {
    if (!among(hosts, "node03") || !among(devices, "cuda:5")) return false;
    return devices.size() > 1 || asked++ == 0;
  });
  const SearchFinding finding = only_finding(fleet.search_of_all());
  CHECK(finding.kind == SearchFindingKind::undecided);
  CHECK(finding.hosts == Devices{"cuda:4", "cuda:5"});
}

TEST_CASE("a plan with a billion ranks starts no GPU search") {
  GpuFleet fleet(1, 8, true, gpus_of("node01", {}));
  fleet.gpu_job({"node01"});
  fleet.run.jobs.back().ranks = 1'000'000'000;
  const Localisation found = make_run_report(fleet.run).localisations.at(0);
  CHECK_FALSE(goes_on(found));
  CHECK_THAT(lines_of(found.devices.at(0), found.incident).at(0), Catch::Contains("more ranks"));
}
