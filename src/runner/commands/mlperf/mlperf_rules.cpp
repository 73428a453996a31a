// benchctl mlperf rules: the rounds whose rules are known, and how new they are.
#include "mlperf/rules/rule_set.h"
#include "results/output/mlperf/rule_set_output.h"
#include "runner/commands/mlperf/mlperf_command.h"
#include "runner/commands/report_pages.h"

namespace bench {

void add_mlperf_rules(CLI::App& mlperf, CommandResult& result) {
  CLI::App* command = mlperf.add_subcommand(
      "rules", "List the rule sets: benchmarks, targets, and the checker they follow");
  command->footer(
      "Example: benchctl mlperf rules\n"
      "A log that is newer than its rules says so in `mlperf check`.\n"
      "Exit codes: 0; 2 an invalid rule set; 4 no rule sets in the folder.");
  struct Options {
    std::string folder;
    PageOptions pages;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  add_value(*command, "--ruleset-dir", options->folder, "DIR",
            "Read rule sets from this folder (default: the bundled ones)");
  add_page_options(*command, options->pages);
  command->add_flag("--json", options->json, "Print JSON (schemas/report_mlperf_rules.json)");
  command->callback([options, &result] {
    const auto rule_sets =
        mlperf::load_rule_sets(options->folder.empty() ? mlperf::rule_set_folder()
                                                       : std::filesystem::path(options->folder));
    show([&] { return to_document(rule_sets); }, [&] { return to_json(rule_sets); }, options->json,
         options->pages);
    result.code = ExitCode::ok;
  });
}

}  // namespace bench
