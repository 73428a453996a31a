// benchctl show [RUN]: prints the report of a stored run.
#include "results/output/run/run_output.h"
#include "runner/commands/report_output.h"
#include "runner/commands/report_pages.h"
#include "runner/site/find_run.h"

namespace bench {

void add_show(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand("show", "Show the report of a stored run");
  command->footer(
      "Example: benchctl show latest --html run.html\nThe exit code is that of the run.");
  struct Options : ReadingOptions {
    std::string run = "latest";
    PageOptions pages;
  };
  auto options = std::make_shared<Options>();
  command
      ->add_option("run", options->run,
                   "Show this run: an ID, an ID prefix, or latest (default: latest)")
      ->type_name("RUN");
  add_page_options(*command, options->pages);
  add_reading_options(*command, *options);
  command->callback([options, &result] {
    const RunReport report = make_run_report(read_run(find_run(options->runs(), options->run)));
    print_report(report, {options->json, options->pages.verbose});
    if (options->pages.any()) write_pages(to_document(report), options->pages);
    result.code = report.exit_code;
  });
}

}  // namespace bench
