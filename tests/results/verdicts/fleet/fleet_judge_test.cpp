// Hosts against their peers, their profile, and over time.
#include <algorithm>

#include "results/output/document/terminal.h"
#include "results/output/verdicts/fleet_output.h"
#include "results/verdicts/fleet/fleet_report.h"
#include "tests/support/catch.h"
#include "tests/support/simulated_fleet.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;

FleetSeries series_of(const std::vector<std::vector<double>>& runs, std::int64_t now_ns,
                      const std::string& metric = "demo.bandwidth") {
  FleetSeries series{metric, Json::object(), "host", Unit::byte_per_second, Better::higher, {}};
  for (std::size_t h = 0; h < runs.size(); ++h) {
    FleetMember member{simulated_host(h), "host", "kind"};
    for (std::size_t r = 0; r < runs[h].size(); ++r)
      member.values.push_back(
          {now_ns - static_cast<std::int64_t>(runs[h].size() - r) * kDayNs, runs[h][r]});
    series.members.push_back(std::move(member));
  }
  return series;
}

FleetSettings settings_now() {
  FleetSettings settings;
  settings.now_ns = SimulatedFleet{}.now_ns;
  return settings;
}

const FleetHostReport& host_of(const FleetReport& report, std::size_t i) {
  return *std::ranges::find(report.hosts, simulated_host(i), &FleetHostReport::host);
}

}  // namespace

TEST_CASE("the reference fleet gives the known z, and its bad host fails at 3 %") {
  FleetSettings settings = settings_now();
  settings.thresholds = {{"demo.bandwidth", 0.03}};
  FleetJudge judge(settings);
  std::vector<std::vector<double>> runs;
  for (const double value : {100.2, 99.8, 100.1, 100.4, 99.9, 100.0, 100.3, 99.7, 100.1, 95.0})
    runs.push_back({value});
  judge.take(series_of(runs, settings.now_ns));
  const FleetReport report = judge.finish();
  CHECK(report.rows[9].z == Approx(-17.030891677));
  CHECK(report.rows[9].loss == Approx(5.05 / 100.05));
  CHECK(report.rows[9].verdict == Verdict::fail);
  CHECK(report.rows[9].gate == "peers");
  CHECK(report.hosts.front().host == simulated_host(9));  // the worst first
  CHECK(report.exit_code == ExitCode::failed);
}

TEST_CASE("one run is not enough to pass, and the report says how many are") {
  FleetJudge judge(settings_now());
  judge.take(series_of(std::vector<std::vector<double>>(8, {100.0}), settings_now().now_ns));
  const FleetReport report = judge.finish();
  CHECK(report.verdict == Verdict::inconclusive);
  CHECK(report.rows[0].gate == "coverage");
  CHECK_THAT(report.rows[0].text, Contains("1 of 3 required runs"));
  CHECK(report.exit_code == ExitCode::not_measured);
}

TEST_CASE(
    "a metric that no host was measured in often enough keeps no host from passing by others") {
  const std::int64_t now_ns = settings_now().now_ns;
  const auto often = [&] {
    return std::vector<std::vector<double>>(8, {100.0, 100.1, 99.9, 100.0});
  };
  FleetSeries once = series_of(std::vector<std::vector<double>>(8, {50.0}), now_ns);
  once.metric = "demo.once";
  FleetJudge judge(settings_now());
  judge.take(series_of(often(), now_ns));
  judge.take(once);
  const FleetReport report = judge.finish();
  CHECK(report.verdict == Verdict::pass);
  CHECK(report.series[1].rare);
  CHECK_FALSE(report.series[0].rare);
  for (const FleetHostReport& host : report.hosts) {
    CHECK(host.rare == 1);
    CHECK(host.inconclusive == 0);
  }
  CHECK_THAT(to_terminal(to_document(report), TextStyle{}), Contains("Measured too rarely") &&
                                                                Contains("demo.once") &&
                                                                Contains("1 measured too rarely"));

  // A host that alone lacks runs is open.
  std::vector<std::vector<double>> one_new = often();
  one_new[3] = {100.0};
  FleetJudge other(settings_now());
  other.take(series_of(one_new, now_ns));
  const FleetReport open = other.finish();
  CHECK(host_of(open, 3).verdict == Verdict::inconclusive);
  CHECK(host_of(open, 2).verdict == Verdict::pass);

  // Three runs on one host do not make the others look incomplete.
  FleetSeries first = series_of(std::vector<std::vector<double>>(8, {50.0}), now_ns, "demo.first");
  for (const double value : {50.1, 49.9}) first.members[0].values.push_back({now_ns - 1, value});
  FleetJudge half(settings_now());
  half.take(series_of(often(), now_ns));
  half.take(first);
  const FleetReport repeated = half.finish();
  CHECK(host_of(repeated, 0).passed == 2);
  CHECK(host_of(repeated, 1).rare == 1);
  CHECK(repeated.verdict == Verdict::pass);

  // A slow host is still seen in few runs.
  FleetSeries slow =
      series_of({{100.0}, {100.1}, {99.9}, {100.0}, {100.1}, {99.9}, {100.0}, {70.0}}, now_ns);
  FleetJudge third(settings_now());
  third.take(slow);
  CHECK(host_of(third.finish(), 7).verdict == Verdict::fail);
}

TEST_CASE("what noise hides is said of the metric, and keeps no host from passing by others") {
  std::mt19937_64 random(5);
  SimulatedFleet quiet, noisy;
  quiet.hosts = noisy.hosts = 8;
  quiet.host_noise = quiet.run_noise = 0.0005;
  noisy.host_noise = 0.0005;
  noisy.run_noise = 0.04;
  FleetJudge judge(settings_now());
  judge.take(simulated_series(quiet, "demo.bandwidth", random));
  judge.take(simulated_series(noisy, "demo.latency", random));
  const FleetReport report = judge.finish();
  CHECK(report.verdict == Verdict::pass);
  REQUIRE(report.series.size() == 2);
  CHECK(report.series[0].unresolved == 0);
  CHECK(report.series[0].visible < report.series[0].threshold);
  CHECK(report.series[1].unresolved >= 7);
  CHECK(report.series[1].visible > report.series[1].threshold);
  for (const FleetHostReport& host : report.hosts) CHECK(host.passed + host.unresolved == 2);
}

TEST_CASE("a fleet whose every metric is lost in noise does not pass") {
  std::mt19937_64 random(6);
  SimulatedFleet noisy;
  noisy.hosts = 8;
  noisy.run_noise = 0.04;
  const FleetReport report = judged_fleet(noisy, random);
  CHECK(report.verdict == Verdict::inconclusive);
  CHECK_THAT(report.hosts.front().reasons.at(0),
             Contains("none of its metrics is resolved (1 measured)"));
}

TEST_CASE("a slow host is not excused by the noise of its fleet") {
  std::mt19937_64 random(7);
  SimulatedFleet noisy;
  noisy.hosts = 8;
  noisy.run_noise = 0.02;
  noisy.bad = 1;
  noisy.lost = 0.3;
  const FleetReport report = judged_fleet(noisy, random);
  CHECK(report.verdict == Verdict::fail);
  CHECK(failed_hosts(report) == std::set<std::string>{simulated_host(7)});
}

TEST_CASE("hosts that differ by far more than their repeats are not excused as noise") {
  std::vector<std::vector<double>> runs(8, {100.0, 100.1, 99.9});
  for (std::size_t h = 4; h < 8; ++h) runs[h] = {92.0, 92.1, 91.9};
  FleetJudge judge(settings_now());
  judge.take(series_of(runs, settings_now().now_ns));
  const FleetReport report = judge.finish();
  CHECK(report.verdict != Verdict::pass);
  for (std::size_t h = 4; h < 8; ++h) {
    CHECK(host_of(report, h).unresolved == 0);
    CHECK(host_of(report, h).verdict != Verdict::pass);
  }
}

TEST_CASE("equal values pass, and one bit of difference fails no host") {
  FleetJudge judge(settings_now());
  std::vector<std::vector<double>> runs(8, {100.0, 100.0, 100.0});
  runs[3] = {99.9999, 99.9999, 99.9999};
  judge.take(series_of(runs, settings_now().now_ns));
  const FleetReport report = judge.finish();
  CHECK(report.verdict == Verdict::pass);
  CHECK(report.exit_code == ExitCode::ok);
}

TEST_CASE("an expired verdict requires a new measurement") {
  FleetSettings settings = settings_now();
  FleetSeries series =
      series_of(std::vector<std::vector<double>>(8, {100.0, 100.0, 100.0}), settings.now_ns);
  for (FleetValue& value : series.members[2].values) value.time_ns -= 40 * kDayNs;
  FleetJudge judge(settings);
  judge.take(series);
  const FleetReport report = judge.finish();
  const FleetHostReport& old = host_of(report, 2);
  CHECK(old.verdict == Verdict::inconclusive);
  CHECK(old.expired);
  CHECK(old.expires_ns < settings.now_ns);
  CHECK_THAT(old.reasons.at(0), Contains("41 days ago"));
  CHECK_FALSE(host_of(report, 1).expired);
  CHECK(host_of(report, 1).verdict == Verdict::pass);
  settings.valid_days = 60;
  FleetJudge patient(settings);
  patient.take(series);
  CHECK(host_of(patient.finish(), 2).verdict == Verdict::pass);
}

TEST_CASE("hosts of different kinds are not peers") {
  FleetSettings settings = settings_now();
  std::vector<std::vector<double>> runs(12, {100.0, 100.1, 99.9});
  for (std::size_t h = 8; h < 12; ++h) runs[h] = {50.0, 50.1, 49.9};
  FleetSeries series = series_of(runs, settings.now_ns);
  FleetJudge mixed(settings);
  mixed.take(series);
  CHECK(mixed.finish().verdict == Verdict::fail);
  for (std::size_t h = 8; h < 12; ++h) series.members[h].kind = "older";
  FleetJudge judge(settings);
  judge.take(series);
  const FleetReport report = judge.finish();
  CHECK(report.verdict == Verdict::pass);
  CHECK(report.series.size() == 2);
}

TEST_CASE("three hosts need a profile for a verdict") {
  FleetSettings settings = settings_now();
  const auto runs = std::vector<std::vector<double>>(3, {100.0, 100.1, 99.9});
  FleetJudge alone(settings);
  alone.take(series_of(runs, settings.now_ns));
  const FleetReport report = alone.finish();
  CHECK(report.verdict == Verdict::inconclusive);
  CHECK_THAT(report.rows[0].text, Contains("3 of this kind"));
  Criterion criterion{101.0, {}, 0.98, 0.001, 0.002, 100, 0};
  settings.profile.emplace();
  settings.profile->entries.push_back({{"demo.bandwidth", Json::object(), "host", "kind"},
                                       Unit::byte_per_second,
                                       Better::higher,
                                       criterion});
  FleetJudge judge(settings);
  judge.take(series_of(runs, settings.now_ns));
  CHECK(judge.finish().verdict == Verdict::pass);
}

TEST_CASE("a uniformly bad fleet passes among peers and fails its profile") {
  FleetSettings settings = settings_now();
  const auto runs = std::vector<std::vector<double>>(16, {90.0, 90.1, 89.9});
  FleetJudge alone(settings);
  alone.take(series_of(runs, settings.now_ns));
  CHECK(alone.finish().verdict == Verdict::pass);
  settings.profile.emplace();
  settings.profile->entries.push_back({{"demo.bandwidth", Json::object(), "host", "kind"},
                                       Unit::byte_per_second,
                                       Better::higher,
                                       Criterion{100.0, {}, 0.98, 0.001, 0.002, 100, 0}});
  FleetJudge judge(settings);
  judge.take(series_of(runs, settings.now_ns));
  const FleetReport report = judge.finish();
  CHECK(report.rows.size() == 16);
  for (const FleetRow& row : report.rows) {
    CHECK(row.verdict == Verdict::fail);
    CHECK(row.gate == "golden");
    CHECK(row.golden_loss == Approx(0.1));
  }
}

TEST_CASE("an unstable host fails repeatability despite a good median") {
  FleetSettings settings = settings_now();
  std::mt19937_64 random(3);
  SimulatedFleet fleet;
  fleet.hosts = 32;
  FleetSeries series = simulated_series(fleet, "demo.bandwidth", random);
  auto& values = series.members[7].values;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i].value = 1e11 * (1.0 + 0.1 * (static_cast<double>(i) - 2.0));
  FleetJudge judge(settings);
  judge.take(series);
  const FleetReport report = judge.finish();
  CHECK(host_of(report, 7).verdict == Verdict::fail);
  CHECK(report.rows[7].gate == "repeatability");
}

TEST_CASE("a metric missing on one host makes it inconclusive") {
  FleetSettings settings = settings_now();
  FleetJudge judge(settings);
  const auto runs = std::vector<std::vector<double>>(8, {100.0, 100.0, 100.0});
  judge.take(series_of(runs, settings.now_ns, "demo.first"));
  FleetSeries second = series_of(runs, settings.now_ns, "demo.second");
  second.members.pop_back();
  judge.take(second);
  const FleetReport report = judge.finish();
  CHECK(host_of(report, 7).verdict == Verdict::inconclusive);
  CHECK_THAT(host_of(report, 7).reasons.at(0), Contains("demo.second"));
  CHECK(host_of(report, 6).verdict == Verdict::pass);
}

TEST_CASE("failures on four days mark a repeat failure, a single one does not") {
  FleetSettings settings = settings_now();
  std::mt19937_64 random(4);
  SimulatedFleet fleet;
  fleet.hosts = 64;
  fleet.runs = 30;
  fleet.host_noise = fleet.run_noise = 0.001;
  FleetSeries series = simulated_series(fleet, "demo.bandwidth", random);
  for (const std::size_t night : {2, 9, 15, 21}) series.members[5].values[night].value *= 0.8;
  series.members[6].values[9].value *= 0.8;
  FleetJudge judge(settings);
  judge.take(series);
  const FleetReport report = judge.finish();
  const FleetHostReport& failing = host_of(report, 5);
  CHECK(failing.incidents.size() == 4);
  CHECK(failing.repeat_failures);
  CHECK(failing.repeat_p < 1e-4);
  CHECK(failing.verdict == Verdict::pass);  // good today
  CHECK(host_of(report, 6).incidents.size() == 1);
  CHECK_FALSE(host_of(report, 6).repeat_failures);
}

TEST_CASE("failed jobs are incidents, and equal failure rates mark no repeat failure") {
  FleetSettings settings = settings_now();
  const auto runs = std::vector<std::vector<double>>(16, {100.0, 100.0, 100.0});
  std::vector<FleetFault> faults;
  for (std::int64_t day = 1; day <= 4; ++day)
    faults.push_back({settings.now_ns - day * kDayNs, simulated_host(3), "gemm failed"});
  faults.push_back({settings.now_ns - 200 * kDayNs, simulated_host(4), "long ago"});
  FleetJudge judge(settings);
  judge.take(series_of(runs, settings.now_ns));
  const FleetReport report = judge.finish(faults);
  CHECK(host_of(report, 3).repeat_failures);
  CHECK(host_of(report, 4).incidents.empty());
  faults.clear();
  for (std::size_t h = 0; h < 16; ++h)
    for (std::int64_t day = 1; day <= 4; ++day)
      faults.push_back({settings.now_ns - day * kDayNs, simulated_host(h), "a bad suite"});
  FleetJudge again(settings);
  again.take(series_of(runs, settings.now_ns));
  const FleetReport everywhere = again.finish(faults);
  CHECK(std::ranges::none_of(everywhere.hosts, &FleetHostReport::repeat_failures));
}

TEST_CASE(
    "the report can be restricted to one host, still judged among all; unknown names are "
    "rejected") {
  std::mt19937_64 random(12);
  SimulatedFleet fleet;
  fleet.bad = 1;
  fleet.lost = 0.1;
  FleetReport report = judged_fleet(fleet, random);
  FleetReport whole = report;
  keep_hosts(report, {simulated_host(31)});
  CHECK(report.hosts.size() == 1);
  CHECK(report.rows.size() == 1);
  CHECK(report.rows[0].loss == Approx(0.1).epsilon(0.1));
  CHECK(report.exit_code == ExitCode::failed);
  CHECK_THROWS_WITH(keep_hosts(whole, {"node031"}), Contains("Did you mean"));
}

TEST_CASE("healthy hosts rarely fail a profile from equally noisy hosts") {
  std::mt19937_64 random(13);
  SimulatedFleet fleet;
  fleet.hosts = 64;
  fleet.host_noise = fleet.run_noise = 0.01;
  const FleetProfile profile = judged_fleet(fleet, random).learned;
  REQUIRE(profile.entries.size() == 1);
  int false_alarms = 0;
  for (int i = 0; i < 100; ++i)
    false_alarms += failed_hosts(judged_fleet(fleet, random, profile)).empty() ? 0 : 1;
  CHECK(false_alarms <= 4);
}

TEST_CASE("the devices of all hosts are peers, and the bad one is named") {
  FleetSettings settings = settings_now();
  FleetSeries series =
      series_of(std::vector<std::vector<double>>(12, {100.0, 100.1, 99.9}), settings.now_ns);
  series.device = "cuda";
  for (std::size_t i = 0; i < 12; ++i) {
    series.members[i].host = simulated_host(i / 4);
    series.members[i].device = "cuda:" + std::to_string(i % 4);
  }
  for (FleetValue& value : series.members[6].values) value.value *= 0.8;
  FleetJudge judge(settings);
  judge.take(series);
  const FleetReport report = judge.finish();
  REQUIRE(report.hosts.size() == 3);
  CHECK(report.hosts[0].host == simulated_host(1));
  CHECK(report.hosts[0].failed == 1);
  CHECK(report.hosts[0].passed == 3);
  CHECK_THAT(report.hosts[0].reasons.at(0), Contains("cuda:2: demo.bandwidth"));
}

TEST_CASE("invalid, non-positive and future values do not count") {
  FleetSettings settings = settings_now();
  std::vector<std::vector<double>> runs(8, {100.0, 100.0, 100.0});
  runs[0] = {NAN, -1.0, 0.0, 100.0, 100.0, 100.0};
  FleetSeries series = series_of(runs, settings.now_ns);
  series.members[1].values.push_back({settings.now_ns + kDayNs, 1.0});
  FleetJudge judge(settings);
  judge.take(series);
  const FleetReport report = judge.finish();
  CHECK(report.verdict == Verdict::pass);
  CHECK(report.rows[0].runs == 3);
}

TEST_CASE("bad hosts among 8 to 1000 are found without false alarms") {
  std::mt19937_64 random(11);
  for (const std::size_t hosts : {8, 64, 1000}) {
    SimulatedFleet fleet;
    fleet.hosts = hosts;
    const int fleets = hosts == 1000 ? 4 : 100;
    int false_alarms = 0;
    for (int i = 0; i < fleets; ++i)
      false_alarms += failed_hosts(judged_fleet(fleet, random)).empty() ? 0 : 1;
    INFO(hosts);
    CHECK(false_alarms <= 3);
    fleet.bad = std::max<std::size_t>(1, hosts / 10);
    std::size_t found = 0, bad = 0, others = 0;
    for (int i = 0; i < fleets / 4; ++i) {
      const auto failed = failed_hosts(judged_fleet(fleet, random));
      std::size_t here = 0;
      for (std::size_t h = hosts - fleet.bad; h < hosts; ++h)
        here += failed.count(simulated_host(h));
      found += here;
      bad += fleet.bad;
      others += failed.size() - here;
    }
    CHECK(static_cast<double>(found) >= 0.95 * static_cast<double>(bad));
    CHECK(others <= 1);
  }
}
