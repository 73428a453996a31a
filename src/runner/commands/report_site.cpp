// benchctl report site DIR: pages over the whole database.
#include <fmt/format.h>
#include <unistd.h>

#include "core/log.h"
#include "core/text.h"
#include "runner/commands/command.h"
#include "runner/commands/report_output.h"
#include "runner/pages/site_pages.h"

namespace bench {
namespace {

struct SiteOptions : ReadingOptions {
  std::string folder;
  std::size_t most_runs = 100;
};

/// A line that is overwritten, on a terminal; nothing in a log.
void show_progress(std::size_t done, std::size_t all) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\rwriting pages: {} of {}{}", done, all, done == all ? "\n" : "");
}

ExitCode write_pages_of(const SiteOptions& options) {
  SiteRequest request{options.database(), options.folder, options.most_runs, show_progress};
  const SitePages pages = write_site(request);
  for (const std::string& warning : pages.warnings) say(Level::warning, printable(warning));
  if (options.json)
    print(Json{{"folder", options.folder}, {"files", pages.files}, {"warnings", pages.warnings}});
  else
    print(fmt::format("{} pages; open {}/index.html\n", pages.files.size(),
                      printable(options.folder)));
  return ExitCode::ok;
}

}  // namespace

void add_site_report(CLI::App& report, CommandResult& result) {
  CLI::App* command = report.add_subcommand(
      "site", "Pages on all runs, nights, hosts, acceptances and comparisons, linked");
  command->footer(
      "Example: benchctl report site /srv/www/benchctl\n"
      "The pages need no server and no network. Run it again after each night: files of the same "
      "name are replaced, others stay.\n"
      "Exit codes: 0 written; 2 there is no database; 4 the folder cannot be written.");
  auto options = std::make_shared<SiteOptions>();
  command->add_option("folder", options->folder, "Write the pages to this folder")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--runs", options->most_runs,
                   "Include this many of the newest runs, each with a page (default: 100)")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = write_pages_of(*options); });
}

}  // namespace bench
