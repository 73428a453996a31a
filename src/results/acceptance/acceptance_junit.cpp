#include <fmt/format.h>

#include "core/text.h"
#include "results/acceptance/acceptance_output.h"
#include "results/acceptance/markup.h"
#include "results/reports/dimensions.h"

namespace bench {
namespace {

std::string verdict_element(const Reason& reason) {
  return fmt::format("<{0} type=\"{1}\" message=\"{2}\">{3}</{0}>",
                     reason.verdict == Verdict::fail ? "failure" : "error", escaped(reason.gate),
                     escaped(reason.text), escaped(reason.next_step));
}

std::string test_case(const std::string& host, const std::string& name, const std::string& inside) {
  return fmt::format("  <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", escaped(host),
                     escaped(name), inside);
}

struct Counts {
  int tests = 0, failures = 0, errors = 0;
};

/// Each passing metric is a passing case; each reason is a failing one.
std::string cases_of(const HostAcceptance& host, Counts& counts) {
  std::string text;
  for (const HostMetric& row : host.metrics) {
    if (row.verdict != Verdict::pass) continue;
    ++counts.tests;
    const std::string list = dimension_list(row.params);
    text += test_case(
        host.host, row.case_name + ": " + row.metric + (list.empty() ? "" : " (" + list + ")"), "");
  }
  for (const HostCounter& counter : host.counters) {
    if (counter.verdict != Verdict::pass) continue;
    ++counts.tests;
    text += test_case(host.host,
                      fmt::format("counters: {} ({})", counter.rule->counter,
                                  counter.device.empty() ? "host" : counter.device),
                      "");
  }
  for (const Reason& reason : host.reasons) {
    ++counts.tests;
    ++(reason.verdict == Verdict::fail ? counts.failures : counts.errors);
    text += test_case(host.host,
                      reason.gate + (reason.metric.empty() ? "" : ": " + reason.metric) +
                          (reason.params.empty() ? "" : " (" + dimension_list(reason.params) + ")"),
                      verdict_element(reason));
  }
  return text;
}

}  // namespace

std::string to_junit(const Acceptance& acceptance) {
  std::string suites;
  Counts all;
  for (const HostAcceptance& host : acceptance.hosts) {
    Counts counts;
    const std::string cases = cases_of(host, counts);
    suites += fmt::format(
        " <testsuite name=\"{}\" hostname=\"{}\" timestamp=\"{}\" tests=\"{}\" failures=\"{}\" "
        "errors=\"{}\" skipped=\"0\">\n{} </testsuite>\n",
        escaped(host.host), escaped(host.host), format_time(acceptance.time_ns), counts.tests,
        counts.failures, counts.errors, cases);
    all = {all.tests + counts.tests, all.failures + counts.failures, all.errors + counts.errors};
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"accept\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\">\n{}</testsuites>\n",
      all.tests, all.failures, all.errors, suites);
}

}  // namespace bench
