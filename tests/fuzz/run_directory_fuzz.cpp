// Hostile run directories (plan.json, a line "---", records.jsonl): anything is read, with warnings
// on what is wrong, and judged; reading in two steps, as of a run that is still going on, gives the
// same.
#include <cstdint>
#include <set>
#include <string_view>

#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/terminal.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"
#include "tests/support/rendered.h"

namespace {

using namespace bench;
using fuzz::demand;

void check_jobs(const RunRecords& run) {
  std::set<std::string> ids;
  for (const PlannedJob& job : run.jobs)
    demand(ids.insert(job.id).second, "two jobs of one ID: " + job.id);
  for (const std::string& job : missing_jobs(run))
    demand(ids.contains(job), "a missing job that was not planned: " + job);
}

void check_report(const RunRecords& run) {
  static const Schema schema = Schema::load(schema_path("report"));
  const RunReport report = make_run_report(run);
  demand(!run.records.empty() || report.exit_code != ExitCode::ok, "nothing was measured, but ok");
  fuzz::must_accept("a report",
                    [&] { schema.check(parse_json(dump(to_json(report)), "report"), "report"); });
  demand(to_text(report, {false, true, 80}).find('\033') == std::string::npos, "an escape");
}

/// Records up to and including the first line, then the rest.
RunRecords read_in_two(const fuzz::InputFolder& folder, std::string_view records) {
  const std::size_t first = records.find('\n');
  folder.write("records.jsonl", records.substr(0, first == records.npos ? 0 : first + 1));
  RunRecords run = read_run(folder.path());
  folder.write("records.jsonl", records);
  read_appended(folder.path(), run);
  return run;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::InputFolder folder;
  constexpr std::string_view kCut = "\n---\n";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find(kCut);
  const auto records = cut == text.npos ? std::string_view() : text.substr(cut + kCut.size());
  folder.write("plan.json", text.substr(0, cut));
  const RunRecords twice = read_in_two(folder, records);
  const RunRecords run = read_run(folder.path());
  check_jobs(run);
  demand(run.jobs.size() == twice.jobs.size() && run.warnings == twice.warnings,
         "another run when read in two steps");
  check_report(run);
  return 0;
}
