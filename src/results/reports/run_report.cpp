#include "results/reports/run_report.h"

#include <utility>

namespace bench {

RunReport make_run_report(const RunRecords& run) {
  return make_run_report(run, make_run_summary(run));
}

RunReport make_run_report(const RunRecords& run, RunSummary summary) {
  RunReport report{std::move(summary), {}, {}, {}};
  report.diagnoses = diagnosis::diagnose_run(run);
  report.stragglers = stragglers(run);
  report.localisations = localise(report, hosts_of_plan(run.plan), search_budget(run.plan));
  return report;
}

}  // namespace bench
