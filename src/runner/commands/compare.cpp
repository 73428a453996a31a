// benchctl compare A B: compares two or more sets of runs, with confidence intervals.
#include "results/verdicts/compare/compare.h"

#include <fmt/format.h>

#include "core/metric_names.h"
#include "results/output/verdicts/compare_output.h"
#include "results/output/verdicts/ladder_output.h"
#include "results/verdicts/compare/ladder.h"
#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"
#include "runner/commands/selection_options.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

struct CompareCommand : ReadingOptions {
  std::vector<std::string> sides;
  std::vector<std::string> metrics, ignored;
  double threshold = -1.0;
  std::vector<double> prices;
  bool all = false;
  PageOptions pages;
};

void check_options(const CompareCommand& options) {
  if (options.threshold != -1.0 && !(options.threshold > 0.0 && options.threshold < 1.0))
    throw Error(ErrorKind::usage,
                fmt::format("--threshold {} is not between 0 and 1", options.threshold),
                "give a fraction, for example 0.02 for 2 %");
  for (const double price : options.prices)
    if (!(price > 0.0))
      throw Error(ErrorKind::usage, fmt::format("invalid price {} per hour", price),
                  "give the hourly cost of one device for A and B, for example --prices 2.5 3.1");
  const std::size_t given = options.prices.size(), sides = options.sides.size();
  if (given > 1 && given != sides)
    throw Error(ErrorKind::usage, fmt::format("{} prices given for {} sides", given, sides),
                "give one price for all sides, or one for each side in order");
}

CompareOptions compare_options(const CompareCommand& options) {
  CompareOptions found;
  found.derived = options.all || !options.metrics.empty();
  if (options.threshold > 0.0) found.threshold = options.threshold;
  return found;
}

/// The prices from --prices, else those in site.json.
void set_prices_of(const CompareCommand& options, std::vector<Side>& sides) {
  if (options.prices.empty()) return set_prices(sides, site_settings().prices);
  for (std::size_t i = 0; i < sides.size(); ++i)
    sides[i].price = options.prices[options.prices.size() == 1 ? 0 : i];
}

/// Noise that is known of several series of one joined metric: the largest.
void ignore(const std::vector<std::string>& names, std::vector<Side>& sides,
            std::map<MetricKey, RunNoise>& noise) {
  if (names.empty()) return;
  ignore_parameters(sides, names);
  std::map<MetricKey, RunNoise> joined;
  for (const auto& [key, one] : noise) {
    const auto [slot, is_new] = joined.try_emplace(without_parameters(key, names), one);
    if (!is_new && one.deviation > slot->second.deviation) slot->second = one;
  }
  noise = std::move(joined);
}

ExitCode run_comparison(const CompareCommand& options) {
  check_options(options);
  CompareOptions asked = compare_options(options);
  auto sides =
      read_sides(options, options.sides, current_metric_names(options.metrics), asked.noise);
  ignore(options.ignored, sides, asked.noise);
  set_prices_of(options, sides);
  if (sides.size() > 2) {
    const Ladder ladder = make_ladder(sides, asked);
    show([&] { return to_document(ladder); }, [&] { return to_json(ladder); }, options.json,
         options.pages);
    return ladder.exit_code();
  }
  const Comparison comparison = compare(sides[0], sides[1], asked);
  show([&] { return to_document(comparison, options.all); }, [&] { return to_json(comparison); },
       options.json, options.pages);
  return comparison.exit_code();
}

}  // namespace

void add_compare(CLI::App& app, CommandResult& result) {
  CLI::App* command =
      app.add_subcommand("compare", "Compare two or more sets of runs, with confidence intervals");
  command->footer(
      std::string("Example: benchctl compare latest~1 latest\n"
                  "         benchctl compare label:driver=550 label:driver=560 --metric gemm\n"
                  "         benchctl compare latest~1 latest --ignore threads\n"
                  "         benchctl compare hardware:h100 hardware:h200 --prices 2.5 3.4\n") +
      kSidesHelp +
      "With more than two sides, each is compared with the one before and with the first.\n"
      "Exit codes: 0 no regression; 1 regression; 3 nothing could be compared or judged.");
  auto options = std::make_shared<CompareCommand>();
  command->add_option("sides", options->sides, "Compare these sets of runs in order")
      ->required()
      ->expected(2, 100)
      ->type_name("A B");
  add_repeated(*command, "--metric", options->metrics,
               "Compare only metrics with this name or prefix (default: all)")
      ->type_name("NAME");
  add_repeated(*command, "--ignore", options->ignored,
               "Match series whatever their value of this parameter, e.g. threads; may be repeated")
      ->type_name("PARAM");
  add_value(*command, "--threshold", options->threshold, "SHARE",
            "Ignore relative differences below this (default: set by the metric, 0.01 for most)");
  command
      ->add_option("--prices", options->prices,
                   "Set the price of one device (CPU runs: one host) in dollars per hour: one for "
                   "all sides, or one for each (default: prices in site.json)")
      ->expected(1, 100)
      ->type_name("A B");
  command->add_flag("--all", options->all,
                    "Also list equivalent and redundant metrics (default: count them)");
  add_page_options(*command, options->pages);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = run_comparison(*options); });
}

}  // namespace bench
