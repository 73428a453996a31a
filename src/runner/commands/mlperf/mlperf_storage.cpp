// benchctl mlperf storage check|score|explain: submissions of MLPerf Storage 2.0 and 3.0.
#include <algorithm>
#include <memory>

#include "core/error.h"
#include "core/text.h"
#include "mlperf/storage/storage_check.h"
#include "results/output/mlperf/storage_output.h"
#include "runner/commands/mlperf/mlperf_command.h"
#include "runner/commands/report_pages.h"

namespace bench {
namespace {

namespace storage = mlperf::storage;

struct StorageOptions {
  std::string path, rule;
  std::string round = "auto", severities = "round";
  PageOptions pages;
  bool json = false, notes = false;
};

std::optional<int> round_of(const StorageOptions& options) {
  if (options.round == "auto") return {};
  return options.round == "2.0" ? 2 : 3;
}

storage::StorageReport checked(const StorageOptions& options) {
  return storage::check_storage(
      storage::find_tree(options.path), round_of(options),
      options.severities == "today" ? storage::Edition::current : storage::Edition::closed_round);
}

void describe_path(CLI::App& command, StorageOptions& options) {
  command
      .add_option("path", options.path,
                  "Read the workloads below this folder: a round, an organisation, a system or a "
                  "workload")
      ->required()
      ->type_name("PATH");
  command
      .add_option("--round", options.round,
                  "Use the rules of this round: 2.0, 3.0, auto "
                  "(default: auto)")
      ->check(CLI::IsMember({"auto", "2.0", "3.0"}))
      ->type_name("V");
  add_page_options(command, options.pages);
  command.add_flag("--json", options.json, "Print JSON (schemas/report_mlperf_storage.json)");
}

void add_check(CLI::App& storage, CommandResult& result) {
  CLI::App* command =
      storage.add_subcommand("check", "Check completeness, thresholds, ranks, hosts and means");
  command->footer(
      "Example: benchctl mlperf storage check storage_results_v3.0/closed/ACME\n"
      "Exit codes: 0 no error; 1 an error was found; 2 no workload below PATH.");
  auto options = std::make_shared<StorageOptions>();
  describe_path(*command, *options);
  command
      ->add_option("--severities", options->severities,
                   "Judge as in the round when it closed, or as the rules are today: round, today "
                   "(default: round)")
      ->check(CLI::IsMember({"round", "today"}))
      ->type_name("WHEN");
  command->add_flag("--notes", options->notes, "List notes, too: files that were replaced");
  command->callback([options, &result] {
    const storage::StorageReport report = checked(*options);
    show([&] { return to_document(report, options->notes); }, [&] { return to_json(report); },
         options->json, options->pages);
    result.code = counts_of(report).errors == 0 ? ExitCode::ok : ExitCode::failed;
  });
}

void add_score(CLI::App& storage, CommandResult& result) {
  CLI::App* command =
      storage.add_subcommand("score", "Compute bandwidths, rates and latencies of each workload");
  command->footer(
      "Example: benchctl mlperf storage score results/fast-array\n"
      "Exit codes: 0 every workload has a score; 1 one has none; 2 no workload below PATH.");
  auto options = std::make_shared<StorageOptions>();
  describe_path(*command, *options);
  command->callback([options, &result] {
    const storage::StorageReport report = checked(*options);
    show([&] { return scores_document(report); }, [&] { return to_json(report); }, options->json,
         options->pages);
    const auto scored = [](const storage::WorkloadReport& one) {
      return one.score.problem.empty();
    };
    result.code = std::ranges::all_of(report.workloads, scored) ? ExitCode::ok : ExitCode::failed;
  });
}

void add_explain(CLI::App& storage, CommandResult& result) {
  CLI::App* command =
      storage.add_subcommand("explain", "Say what a rule asks and how it is computed");
  command->footer("Example: benchctl mlperf storage explain 3.3.2");
  auto options = std::make_shared<StorageOptions>();
  command->add_option("rule", options->rule, "Explain this rule (default: list all)")
      ->type_name("RULE");
  command->callback([options, &result] {
    std::vector<storage::StorageRule> rules = storage::storage_rules();
    if (!options->rule.empty()) {
      std::vector<std::string> known;
      for (const storage::StorageRule& one : rules) known.emplace_back(one.id);
      const auto found = std::ranges::find(rules, options->rule, &storage::StorageRule::id);
      if (found == rules.end())
        throw Error(ErrorKind::usage,
                    "there is no rule '" + printable(options->rule) + "'." +
                        did_you_mean(options->rule, known),
                    "`benchctl mlperf storage explain` lists them");
      rules = {*found};
    }
    show([&] { return rules_document(rules); }, [] { return Json(); }, false, options->pages);
    result.code = ExitCode::ok;
  });
}

}  // namespace

void add_mlperf_storage(CLI::App& mlperf, CommandResult& result) {
  CLI::App* storage =
      mlperf.add_subcommand("storage", "Check and score submissions of MLPerf Storage 2.0 and 3.0");
  storage->require_subcommand(1);
  add_check(*storage, result);
  add_score(*storage, result);
  add_explain(*storage, result);
}

}  // namespace bench
