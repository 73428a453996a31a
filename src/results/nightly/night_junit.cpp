// A night as JUnit: one test case per host, finding and skipped check.
#include <fmt/format.h>

#include "core/json.h"
#include "results/junit.h"
#include "results/nightly/night.h"

namespace bench {
namespace {

JunitTest checks_of(const NightHost& host) {
  JunitTest test{"nightly." + host.host, "checks"};
  if (host.ok > 0) return test;
  test.kind = host.planned > 0 ? JunitKind::error : JunitKind::skipped;
  test.why = host.planned > 0 ? fmt::format("none of its {} jobs succeeded", host.planned)
                              : "no check was selected, or the host was busy";
  return test;
}

std::string title_of(const NightFinding& finding) {
  std::string title = finding.case_name.empty() ? "" : finding.case_name + ": ";
  title += finding.metric.empty() ? std::string(to_string(finding.kind)) : finding.metric;
  if (!finding.params.empty()) title += " " + dump(finding.params);
  return finding.device.empty() ? title : title + " " + finding.device;
}

JunitTest as_test(const NightFinding& finding, bool measured_only) {
  JunitTest test{"nightly." + finding.host, title_of(finding)};
  const Verdict verdict = verdict_of(finding, measured_only);
  if (verdict == Verdict::fail) test.kind = JunitKind::failure;
  if (verdict == Verdict::inconclusive) test.kind = JunitKind::error;
  test.why = fmt::format("{}: {}", to_string(finding.state), finding.text);
  if (!finding.next_step.empty()) test.why += "; " + finding.next_step;
  return test;
}

JunitTest as_test(const SkippedCheck& left) {
  const std::string what = left.case_name.empty() ? "all" : left.case_name;
  return {"nightly." + left.host, what + " (not checked)", 0.0, JunitKind::skipped, left.why};
}

}  // namespace

std::string to_junit(const Night& night) {
  JunitSuite suite{night.suite, night.run, night.time_ns, night.seconds};
  for (const NightHost& host : night.hosts) suite.tests.push_back(checks_of(host));
  for (const NightFinding& finding : night.findings)
    suite.tests.push_back(as_test(finding, night.measured_only));
  for (const SkippedCheck& left : night.skipped_checks) suite.tests.push_back(as_test(left));
  return to_junit(suite);
}

}  // namespace bench
