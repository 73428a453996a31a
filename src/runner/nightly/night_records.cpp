#include "runner/nightly/night_records.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "results/run_records.h"
#include "runner/dispatch/own_record.h"
#include "runner/dispatch/spool.h"
#include "runner/index_run.h"

namespace bench {

Taken take_run(const std::filesystem::path& run, const std::filesystem::path& database,
               bool hurry) {
  if (auto report = index_run(run, database, hurry)) return {std::move(*report), true};
  return {make_run_summary(read_run(run)), false};
}

std::unique_ptr<FileLock> lock_night(const std::filesystem::path& database) try {
  std::filesystem::path lock = database;
  lock += ".nightly.lock";
  return std::make_unique<FileLock>(lock, std::chrono::milliseconds(0));
} catch (const Error& error) {
  throw Error(ErrorKind::environment,
              "another night is running on this database: " + std::string(error.what()),
              "wait for it to finish, or use another database with --db FILE");
}

void add_part(RunSummary part, RunSummary& whole) {
  const std::size_t before = whole.results.size();
  for (GateResult& gate : part.gates) {
    if (gate.series) *gate.series += before;
    whole.gates.push_back(std::move(gate));
  }
  std::ranges::move(part.results, std::back_inserter(whole.results));
  std::ranges::move(part.jobs, std::back_inserter(whole.jobs));
}

bool write_findings(const std::filesystem::path& run, const std::vector<NightFinding>& findings) {
  const auto is_of_run = [&](const NightFinding& finding) { return run.filename() == finding.run; };
  if (std::ranges::none_of(findings, is_of_run)) return false;
  Spool spool = Spool::append_to(run / "records.jsonl");
  for (const NightFinding& finding : findings)
    if (is_of_run(finding)) spool.append(own_record("", Event{kFindingEvent, to_json(finding)}));
  spool.sync();
  return true;
}

}  // namespace bench
