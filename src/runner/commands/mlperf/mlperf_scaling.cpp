// benchctl mlperf scaling PATH: report time to train over accelerator count.
#include "results/output/mlperf/published_scaling_output.h"
#include "results/verdicts/published/published_scaling.h"
#include "runner/commands/mlperf/mlperf_command.h"
#include "runner/commands/report_pages.h"

namespace bench {
namespace {

struct MlperfScalingOptions : PublishedOptions {
  mlperf::PublishedScalingSettings scaling;
  PageOptions pages;
  bool json = false;
};

void describe_mlperf_scaling(CLI::App& command, MlperfScalingOptions& options) {
  command.footer(
      "Example: benchctl mlperf scaling round --benchmark llama31_8b --html scaling.html\n"
      "A series is a submitter's results for one benchmark on one accelerator model. Time "
      "efficiency\n"
      "is throughput efficiency divided by the convergence penalty of a larger batch.\n"
      "Exit codes: 0 at least one series; 2 no results; 3 no series.");
  add_published_options(command, options, 100);
  command
      .add_option("--at", options.scaling.predict_at,
                  "Predict at this accelerator count, at most and by default twice the "
                  "largest; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command
      .add_option("--base", options.scaling.base,
                  "Efficiencies refer to this accelerator count; smaller ones, and series without "
                  "it, are left out. Default: the smallest of each series")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  add_page_options(command, options.pages);
  command.add_flag("--json", options.json, "Print JSON (schemas/report_mlperf_scaling.json)");
}

}  // namespace

void add_mlperf_scaling(CLI::App& mlperf, CommandResult& result) {
  CLI::App* command = mlperf.add_subcommand(
      "scaling", "Report scaling: throughput efficiency and convergence penalty");
  auto options = std::make_shared<MlperfScalingOptions>();
  describe_mlperf_scaling(*command, *options);
  command->callback([options, &result] {
    const auto scaling = mlperf::published_scaling(options->entries(), options->scaling);
    show([&] { return to_document(scaling); }, [&] { return to_json(scaling); }, options->json,
         options->pages);
    result.code = scaling.exit_code;
  });
}

}  // namespace bench
