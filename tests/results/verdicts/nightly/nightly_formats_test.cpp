// JUnit and Prometheus output of a night.
#include "results/output/verdicts/night_output.h"
#include "results/verdicts/nightly/night.h"
#include "tests/support/catch.h"
#include "tests/support/gauges.h"
#include "tests/support/occurrences.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

NightFinding finding(const std::string& host, SuspicionKind kind, SuspicionState state) {
  NightFinding one;
  one.host = host;
  one.kind = kind;
  one.state = state;
  one.case_name = "speed";
  one.metric = kind == SuspicionKind::slower ? "x.rate" : "";
  one.text = "it is <slow> & \x1b[31m";
  return one;
}

/// Five hosts: healthy, slow, unsettled, busy and broken; one check was skipped.
Night mixed_night() {
  Night night;
  night.run = "20261120T183005Z-night-0001";
  night.suite = "nightly";
  night.time_ns = std::int64_t{1'795'199'405'000'000'000};
  night.seconds = 60;
  night.budget_s = 1800;
  night.tested = 8;
  night.hosts = {
      {"n1", 3, 3, 5.0}, {"n2", 3, 3, 5.0}, {"n3", 3, 2, 5.0}, {"n4"}, {"n5", 2, 0, 2e5}};
  night.findings = {finding("n1", SuspicionKind::slower, SuspicionState::dropped),
                    finding("n2", SuspicionKind::slower, SuspicionState::confirmed),
                    finding("n3", SuspicionKind::failed, SuspicionState::unsettled)};
  night.findings[1].value = 80;
  night.findings[1].expected = 100;
  night.skipped_checks = {{"n1", "burn", kNoValue, "no time left"}};
  find_unchecked(night, 7.0);
  return night;
}

std::map<std::string, double> with(const std::map<std::string, double>& all,
                                   const std::string& label) {
  std::map<std::string, double> found;
  for (const auto& [labels, value] : all)
    if (labels.find(label) != std::string::npos) found[labels] = value;
  return found;
}

}  // namespace

TEST_CASE("junit of a night: only confirmed findings fail, and open ones do not pass") {
  const std::string xml = to_junit(mixed_night());
  // Five hosts, three findings, one host unchecked for too long, one skipped check.
  CHECK_THAT(xml, Contains("tests=\"10\" failures=\"1\" errors=\"3\" skipped=\"2\""));
  CHECK(occurrences(xml, "<testcase ") == 10);
  CHECK_THAT(xml, Contains("classname=\"nightly.n2\" name=\"speed: x.rate\""));
  CHECK_THAT(xml, Contains("confirmed: it is &lt;slow&gt; &amp; \xef\xbf\xbd[31m"));
  CHECK_THAT(xml, Contains("none of its 2 jobs succeeded"));
  CHECK_THAT(xml, Contains("timestamp=\"2026-11-20T"));
  CHECK(xml.find('\x1b') == std::string::npos);
}

TEST_CASE("junit of a prolog night: a job that could not run does not fail its host") {
  Night night = mixed_night();
  night.findings = {finding("n1", SuspicionKind::failed, SuspicionState::confirmed)};
  CHECK_THAT(to_junit(night), Contains("failures=\"1\""));
  night.measured_only = true;
  CHECK_THAT(to_junit(night), Contains("failures=\"0\""));
}

TEST_CASE("prometheus of a night: each kind and state has a count, including 0") {
  const auto all = gauges(to_prometheus(mixed_night()));
  const auto& counts = all.at("benchctl_night_findings");
  CHECK(counts.size() == 15);
  double sum = 0;
  for (const auto& [labels, count] : counts) sum += count;
  CHECK(sum == 4);
  CHECK(with(with(counts, "kind=\"wrong\""), "state=\"confirmed\"").begin()->second == 0);
  CHECK(all.at("benchctl_night_exit_code").begin()->second == 1);
  CHECK(all.at("benchctl_night_checks_left_out").begin()->second == 1);
}

TEST_CASE("prometheus of a night: findings by host, and no time for a host never checked") {
  const auto all = gauges(to_prometheus(mixed_night()));
  const auto effects = with(all.at("benchctl_night_finding_effect_ratio"), "host=\"n2\"");
  REQUIRE(effects.size() == 1);
  CHECK(effects.begin()->second == Approx(-0.2));
  CHECK(all.at("benchctl_night_finding_effect_ratio").size() == 1);  // the others have no value
  CHECK(with(all.at("benchctl_night_finding"), "kind=\"unchecked\"").size() == 1);
  const auto& checked = all.at("benchctl_night_host_checked_timestamp_seconds");
  CHECK(with(checked, "host=\"n4\"").empty());
  CHECK(with(checked, "host=\"n1\"").begin()->second == 1'795'199'405.0);
  CHECK(with(checked, "host=\"n5\"").begin()->second == 1'795'199'405.0 - 2e5);
  CHECK(with(all.at("benchctl_night_host_jobs_ok"), "host=\"n3\"").begin()->second == 2);
}

TEST_CASE("the headline of a night that was interrupted does not say that it passed") {
  Night night;
  night.hosts = {{"n1", 3, 3, 5.0}};
  night.tested = 8;
  CHECK(headline_of(to_document(night))->verdict == "PASS");
  night.interrupted = true;
  CHECK(headline_of(to_document(night))->verdict == "INTERRUPTED");
  night.findings = {finding("n1", SuspicionKind::slower, SuspicionState::confirmed)};
  CHECK(headline_of(to_document(night))->verdict == "FAIL");
}
