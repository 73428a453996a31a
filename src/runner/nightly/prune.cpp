#include "runner/nightly/prune.h"

#include "core/json.h"
#include "core/json_fields.h"
#include "core/whole_file.h"
#include "results/run/retention.h"
#include "runner/dispatch/run_directory.h"
#include "runner/site/find_run.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

bool is_old(const fs::path& run, const PruneRule& rule, std::int64_t now_ns) {
  const std::int64_t began_ns = integer_field(read_json(run / "plan.json"), "time_ns");
  return began_ns > 0 && 1e-9 * static_cast<double>(now_ns - began_ns) > rule.older.value;
}

void prune_run(const fs::path& run, const PruneRule& rule, Pruned& pruned) {
  const fs::path file = run / "records.jsonl";
  const Spool ours = Spool::append_to(file);  // locks out other writers
  const std::string before = read_file(file);
  const Thinned after = thin_records(before, rule.keep);
  if (after.series == 0) return;
  if (!rule.dry_run)
    replace_file(file, after.text, static_cast<mode_t>(fs::status(file).permissions()));
  pruned.runs.push_back(run);
  pruned.series += after.series;
  pruned.samples += after.samples;
  pruned.bytes +=
      static_cast<std::int64_t>(before.size()) - static_cast<std::int64_t>(after.text.size());
}

}  // namespace

Pruned prune_runs(const fs::path& runs, const PruneRule& rule, std::int64_t now_ns) {
  Pruned pruned;
  for (const std::string& id : all_runs(runs)) {
    try {
      if (is_old(runs / id, rule, now_ns)) prune_run(runs / id, rule, pruned);
    } catch (const std::exception& error) {
      pruned.complaints.push_back(id + ": " + error.what());
    }
  }
  return pruned;
}

}  // namespace bench
