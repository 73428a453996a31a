// benchctl report scaling [RUN...]: scaling curves over ranks, hosts or threads.
#include <algorithm>

#include "core/metric_names.h"
#include "results/output/verdicts/scaling_output.h"
#include "results/verdicts/scaling/scaling_report.h"
#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

struct ScalingOptions : ReadingOptions {
  std::vector<std::string> runs;
  std::string law;
  PageOptions pages;
  ScalingSettings settings;
};

void describe_scaling(CLI::App& command, ScalingOptions& options) {
  command.footer(
      "Example: benchctl report scaling latest --html scaling.html\n"
      "A case with \"scope\": \"ladder\" runs on 1, 2, 4, ... hosts; axes take ranks_per_host or "
      "threads.\n"
      "Exit codes: 0 at least one curve; 3 no metric was measured at two sizes.");
  add_value(
      command, "runs", options.runs, "RUN",
      "Report on these runs: IDs, ID prefixes, latest, latest~N or label:NAME=VALUE (default: "
      "latest)");
  add_value(command, "--over", options.settings.over, "NAME",
            "Scale over ranks, hosts, or a parameter such as threads (default: ranks)");
  add_repeated(command, "--metric", options.settings.metrics,
               "Include only metrics with this name or prefix; may be repeated (default: all)")
      ->type_name("METRIC");
  add_value(command, "--law", options.law, "LAW",
            "Set the scaling law: total (aggregate rate), own (rate per unit), strong (time "
            "for fixed work), weak (time for fixed work per unit) (default: by metric)");
  command
      .add_option("--at", options.settings.predict_at,
                  "Predict at this size, at most twice the largest measured; may be repeated "
                  "(default: twice the largest)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  add_page_options(command, options.pages);
  add_reading_options(command, options);
}

}  // namespace

void add_scaling_report(CLI::App& report, CommandResult& result) {
  CLI::App* command = report.add_subcommand(
      "scaling", "Report scaling over ranks, hosts or threads, with fitted models");
  auto options = std::make_shared<ScalingOptions>();
  describe_scaling(*command, *options);
  command->callback([options, &result] {
    if (options->runs.empty()) options->runs.push_back("latest");
    if (!options->law.empty()) options->settings.law = scaling_law_from(options->law);
    options->settings.metrics = current_metric_names(options->settings.metrics);
    std::vector<RunRecords> records;
    for (const auto& folder : find_runs(options->database(), options->runs))
      records.push_back(read_run(folder));
    const ScalingReport made = make_scaling_report(records, options->settings);
    show([&] { return to_document(made); }, [&] { return to_json(made); }, options->json,
         options->pages);
    result.code = made.exit_code;
  });
}

}  // namespace bench
