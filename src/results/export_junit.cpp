#include "results/export_junit.h"

#include <fmt/format.h>

#include "core/json.h"
#include "results/junit.h"

namespace bench {
namespace {

JunitKind kind_of_outcome(Status status) {
  switch (status) {
    case Status::ok:
      return JunitKind::passed;
    case Status::skipped:
      return JunitKind::skipped;
    case Status::invalid:
      return JunitKind::failure;
    default:
      return JunitKind::error;
  }
}

JunitTest as_test(const RunSummary& report, const JobResult& job) {
  JunitTest test{report.suite + "." + job.job.case_name, job.job.id, job.seconds};
  test.kind = job.not_run ? JunitKind::error : kind_of_outcome(job.outcome);
  test.why = fmt::format("{}: {}", to_string(job.outcome), job.reason);
  return test;
}

JunitTest as_test(const RunSummary& report, const GateResult& result) {
  const Series* series = result.series ? &report.results.at(*result.series).series : nullptr;
  JunitTest test{
      report.suite + "." + result.gate.case_name + ".gates",
      result.gate.metric + " " + demand(result.gate, series ? series->unit : Unit::count)};
  test.name += series ? fmt::format(" {} {} {}", dump(series->params), series->host, series->job)
                      : " " + dump(result.gate.where);
  if (result.verdict == Verdict::fail) test.kind = JunitKind::failure;
  if (result.verdict == Verdict::inconclusive)
    test.kind = result.measured ? JunitKind::skipped : JunitKind::error;
  test.why = fmt::format("{}: {}", to_string(result.verdict), result.reason);
  return test;
}

}  // namespace

std::string to_junit(const RunSummary& report) {
  JunitSuite suite{report.suite, report.run, report.time_ns, report.seconds};
  for (const JobResult& job : report.jobs) suite.tests.push_back(as_test(report, job));
  for (const GateResult& gate : report.gates) suite.tests.push_back(as_test(report, gate));
  return to_junit(suite);
}

}  // namespace bench
