// benchctl compare A B: what differs between two sets of runs, and how sure that is.
#include "results/compare/compare.h"

#include <fmt/format.h>

#include "results/compare/compare_output.h"
#include "results/compare/ladder.h"
#include "results/text_file.h"
#include "runner/commands/command.h"
#include "runner/commands/report_output.h"
#include "runner/commands/sides.h"

namespace bench {
namespace {

struct CompareCommand : ReadingOptions {
  std::vector<std::string> sides;
  std::vector<std::string> metrics;
  double threshold = -1.0;
  std::vector<double> prices;
  bool all = false;
  std::string html;
};

void check_options(const CompareCommand& options) {
  if (options.threshold != -1.0 && !(options.threshold > 0.0 && options.threshold < 1.0))
    throw Error(ErrorKind::usage,
                fmt::format("--threshold is {}, and must lie between 0 and 1", options.threshold),
                "it is a share: 0.02 for 2 %");
  for (const double price : options.prices)
    if (!(price > 0.0))
      throw Error(
          ErrorKind::usage, fmt::format("a price of {} an hour", price),
          "--prices takes what an hour of one device of A and of B costs: --prices 2.5 3.1");
}

CompareOptions compare_options(const CompareCommand& options) {
  CompareOptions found;
  found.derived = options.all || !options.metrics.empty();
  if (options.threshold > 0.0) found.threshold = options.threshold;
  if (options.prices.size() == 2) {
    found.price_a = options.prices[0];
    found.price_b = options.prices[1];
  }
  return found;
}

ExitCode answer_comparison(const CompareCommand& options) {
  check_options(options);
  CompareOptions asked = compare_options(options);
  const auto sides = read_sides(options, options.sides, options.metrics, asked.noise);
  if (sides.size() > 2) {
    if (!options.html.empty())
      throw Error(ErrorKind::usage,
                  "a ladder of " + std::to_string(sides.size()) + " sides has no page",
                  "leave --html out, or compare two sides");
    const Ladder ladder = make_ladder(sides, asked);
    options.json ? print(to_json(ladder)) : print(to_text(ladder, style_of_stdout()));
    return ladder.exit_code();
  }
  const Comparison comparison = compare(sides[0], sides[1], asked);
  if (!options.html.empty()) write_file(options.html, to_html(comparison));
  options.json ? print(to_json(comparison))
               : print(to_text(comparison, style_of_stdout(), options.all));
  return comparison.exit_code();
}

}  // namespace

void add_compare(CLI::App& app, CommandResult& result) {
  CLI::App* command =
      app.add_subcommand("compare", "What differs between two sets of runs, and how sure that is");
  command->footer(
      std::string("Example: benchctl compare latest~1 latest\n"
                  "         benchctl compare label:driver=550 label:driver=560 --metric gemm\n"
                  "         benchctl compare hardware:h100 hardware:h200 --prices 2.5 3.4\n") +
      kSidesHelp +
      "More than two sides are a ladder: each step against the one before and the first.\n"
      "Exit codes: 0 nothing regressed; 1 something did; 3 nothing could be compared or judged.");
  auto options = std::make_shared<CompareCommand>();
  command->add_option("sides", options->sides, "A, B and further steps")
      ->required()
      ->expected(2, 100)
      ->type_name("A B");
  add_repeated(*command, "--metric", options->metrics,
               "Only metrics of this name or beginning (default: all)")
      ->type_name("NAME");
  command
      ->add_option("--threshold", options->threshold,
                   "The share from which a difference matters (default: what the metric declares, "
                   "0.01 for most)")
      ->type_name("SHARE");
  command
      ->add_option("--prices", options->prices,
                   "Dollars an hour of one device (on CPUs: host) of A and of B (default: none)")
      ->expected(2)
      ->type_name("A B");
  command->add_flag("--all", options->all,
                    "Show equivalent metrics too, and those that say the same as another "
                    "(default: counted)");
  command->add_option("--html", options->html, "Write the comparison as a page there")
      ->type_name("FILE");
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = answer_comparison(*options); });
}

}  // namespace bench
