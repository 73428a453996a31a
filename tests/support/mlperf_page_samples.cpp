#include "tests/support/mlperf_page_samples.h"

#include <fmt/format.h>

#include "core/whole_file.h"
#include "mlperf/check/check.h"
#include "mlperf/rules/rule_set.h"
#include "results/output/document/page.h"
#include "results/output/mlperf/check_output.h"
#include "results/output/mlperf/package_output.h"
#include "results/output/mlperf/published_comparison_output.h"
#include "results/output/mlperf/published_scaling_output.h"
#include "results/output/mlperf/score_output.h"
#include "results/output/mlperf/storage_output.h"
#include "tests/mlperf/published_fixture.h"
#include "tests/mlperf/right_log.h"
#include "tests/mlperf/scored_entry.h"
#include "tests/mlperf/storage/made_submission.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

namespace fs = std::filesystem;

SubmissionScore scores() {
  SubmissionScore score{.root = "round"};
  const RcpSet set = small_set();
  for (int i = 0; i < 8; ++i) {
    const double minutes = 10.0 + i;
    EntryScore entry = entry_of({run_of(0, minutes, 99), run_of(1, minutes + 1, 99),
                                 run_of(2, minutes + 2, i == 3 ? 60 : 99)});
    entry.submitter = "submitter_" + std::to_string(i);
    score_entry(entry, &set, {.batches = {1152}});
    score.systems.push_back({entry.submitter, entry.system, {}, {score.entries.size()}});
    score.entries.push_back(std::move(entry));
  }
  score.benchmarks = {"llama31_405b"};
  score.reference.emplace("5.1.0 llama31_405b", set);
  return score;
}

/// Two systems of one submitter: a valid log, an aborted one, one whose first evaluation is lost
/// and one that is no log.
CheckReport check_report() {
  const TemporaryDirectory folder;
  const fs::path results = folder.path() / "Acme" / "results";
  const auto add = [&](const std::string& system, int run, const std::string& text) {
    write_file(results / system / "llama31_8b" / fmt::format("result_{}.txt", run), text);
  };
  add("two_nodes_of_eight_accelerators", 0, RightLog().text());
  RightLog aborted(1'760'086'400'000, 1);
  aborted.line("run_stop").metadata = R"("status": "aborted")";
  add("two_nodes_of_eight_accelerators", 1, aborted.text());
  RightLog unevaluated(1'760'172'800'000, 2);
  unevaluated.remove("eval_accuracy");
  add("one_node", 0, unevaluated.text());
  add("one_node", 1, ":::MLLOG {\"key\": \n");
  return check_submission(find_submission(folder.path()), {.rule_sets = rule_set_folder()});
}

CheckedPackage package() {
  const RcpSet set = small_set();
  CheckedPackage checked;
  checked.package = {
      .folder = "out/acme",
      .files = {"out/acme/results/sys/llama31_405b/result_0.txt", "out/acme/systems/sys.json"},
      .filled = 2,
      .todo = {{"systems/sys.json: status", "Onprem, Cloud, Preview or Research"},
               {"result_2.txt", "the convergence test fails"}}};
  checked.check = check_report();
  checked.score = entry_of({run_of(0, 10, 99), run_of(1, 11, 99), run_of(2, 12, 99)});
  score_entry(checked.score, &set, {.batches = {1152}});
  checked.left_out = {"a_log_outside_the_window.txt"};
  return checked;
}

std::vector<PublishedEntry> round_of(const std::string& system, double minutes) {
  std::vector<PublishedEntry> entries;
  for (int nodes = 1; nodes <= 8; nodes *= 2)
    entries.push_back(published("acme", fmt::format("{}_{}", system, nodes), nodes,
                                minutes / nodes * (1.0 + 0.03 * nodes), 1000.0 + 40.0 * nodes));
  return entries;
}

/// Of four workloads, complete and valid.
storage::StorageReport storage_report() {
  storage::MadeSubmission submission;
  submission.add_training();
  submission.add_split_checkpointing();
  submission.add_kv_cache();
  submission.add_vector_database();
  return submission.report();
}

}  // namespace

void write_mlperf_pages(const fs::path& folder) {
  const auto write = [&](const char* name, const Document& report) {
    write_file(folder / fmt::format("mlperf_{}.html", name), to_page(report));
  };
  const std::vector<PublishedEntry> old = round_of("old", 60.0), recent = round_of("new", 40.0);
  std::vector<PublishedEntry> all = old;
  all.insert(all.end(), recent.begin(), recent.end());
  write("scores", to_document(scores(), true));
  write("check", to_document(check_report(), true));
  write("package", to_document(package()));
  write("ranking", to_document(ranked_benchmarks(all)));
  write("comparison", to_document(compare_published({"old", old}, {"new", recent})));
  write("storage", storage::to_document(storage_report(), true));
  write("scaling", to_document(published_scaling(old, {.predict_at = {128}})));
}

}  // namespace bench::mlperf
