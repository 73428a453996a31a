// benchctl mlperf compare PATH [PATH]: compare published systems and generations.
#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/import/imported_lines.h"
#include "results/output/mlperf/published_comparison_output.h"
#include "results/verdicts/published/published_comparison.h"
#include "runner/commands/mlperf/mlperf_command.h"
#include "runner/commands/report_pages.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

struct MlperfCompareOptions : PublishedOptions {
  std::vector<std::string> between;
  std::vector<std::string> prices;
  PageOptions pages;
  bool json = false;
};

void describe_mlperf_compare(CLI::App& command, MlperfCompareOptions& options) {
  command.footer(
      "Example: benchctl mlperf compare round\n"
      "         benchctl mlperf compare round --between 'nvidia gb200' 'nvidia gb300'\n"
      "         benchctl mlperf compare v5.0/acme v5.1/acme\n"
      "One PATH: rank all systems of each benchmark by score, with accelerator minutes.\n"
      "Two PATHs, or --between: compare A with B at equal numbers of accelerators, by the rules "
      "of\n"
      "`benchctl compare`, or in accelerator time if the numbers differ.\n"
      "Exit codes: 0 no regression; 1 at least one regression; 2 no results; 3 "
      "nothing comparable.");
  add_published_options(command, options, 2);
  command
      .add_option("--between", options.between,
                  "Compare results that match A with those that match B (default: the two "
                  "PATHs)")
      ->expected(2)
      ->type_name("A B");
  command
      .add_option("--price", options.prices,
                  "Price of an accelerator and hour, by words of its name: 'gb300=8.50'; adds the "
                  "cost of a run to the ranking. May be repeated; default: the site's")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("WORDS=PRICE");
  add_page_options(command, options.pages);
  command.add_flag("--json", options.json, "Print JSON (schemas/report_mlperf_compare.json)");
}

Prices prices_of(const MlperfCompareOptions& options) {
  if (options.prices.empty()) return site_settings().prices;
  Prices prices;
  for (const std::string& text : options.prices) {
    const std::size_t equals = text.rfind('=');
    double price = 0.0;
    if (equals == std::string::npos || equals == 0 ||
        !read_number(std::string_view(text).substr(equals + 1), price) || !(price > 0.0))
      throw Error(ErrorKind::usage, "'" + printable(text) + "' is no price of an accelerator",
                  "write words of the accelerator and a number: --price 'gb300=8.50'");
    prices[text.substr(0, equals)] = price;
  }
  return prices;
}

ExitCode list_results(const MlperfCompareOptions& options) {
  const auto entries = options.entries();
  const auto prices = prices_of(options);
  if (!options.prices.empty())
    for (const auto& [words, price] : prices)
      if (std::ranges::none_of(entries, [&](const mlperf::PublishedEntry& entry) {
            return mlperf::names_accelerator(entry, words);
          }))
        throw Error(ErrorKind::usage,
                    "'" + printable(words) + "' names no accelerator of these results",
                    "see the column accelerator of `benchctl mlperf compare PATH`");
  const auto ranked = mlperf::ranked_benchmarks(entries, prices);
  show([&] { return to_document(ranked); }, [&] { return to_json(ranked); }, options.json,
       options.pages);
  const bool scored = std::ranges::any_of(ranked, [](const mlperf::RankedBenchmark& one) {
    return std::isfinite(one.entries.front().entry.score_minutes);
  });
  return scored ? ExitCode::ok : ExitCode::not_measured;
}

/// Selects the sides by words. Rejects results on both sides, which would be compared with
/// themselves.
std::pair<mlperf::PublishedSide, mlperf::PublishedSide> sides_between(
    const MlperfCompareOptions& options) {
  mlperf::PublishedSide a{options.between[0], {}}, b{options.between[1], {}};
  for (const mlperf::PublishedEntry& entry : options.entries()) {
    const bool of_a = matches_words(entry, a.name), of_b = matches_words(entry, b.name);
    if (of_a && of_b)
      throw Error(ErrorKind::usage,
                  entry_label(entry) + " is on both sides: '" + printable(a.name) + "' and '" +
                      printable(b.name) + "'",
                  "choose words that match only one side: submitter, system, accelerator");
    if (of_a) a.entries.push_back(entry);
    if (of_b) b.entries.push_back(entry);
  }
  return {std::move(a), std::move(b)};
}

std::pair<mlperf::PublishedSide, mlperf::PublishedSide> sides_of(
    const MlperfCompareOptions& options) {
  if (!options.between.empty()) return sides_between(options);
  return {{options.paths[0], options.entries_of(options.paths[0])},
          {options.paths[1], options.entries_of(options.paths[1])}};
}

ExitCode compare_sides(const MlperfCompareOptions& options) {
  const auto [a, b] = sides_of(options);
  const auto comparison = mlperf::compare_published(a, b);
  show([&] { return to_document(comparison); }, [&] { return to_json(comparison); }, options.json,
       options.pages);
  return comparison.exit_code();
}

}  // namespace

void add_mlperf_compare(CLI::App& mlperf, CommandResult& result) {
  CLI::App* command = mlperf.add_subcommand(
      "compare", "Compare systems and generations, in total and per accelerator");
  auto options = std::make_shared<MlperfCompareOptions>();
  describe_mlperf_compare(*command, *options);
  command->callback([options, &result] {
    const bool sides = !options->between.empty() || options->paths.size() == 2;
    if (sides && !options->prices.empty())
      throw Error(ErrorKind::usage, "--price is for the ranking of one PATH",
                  "leave out --price, or --between and the second PATH");
    result.code = sides ? compare_sides(*options) : list_results(*options);
  });
}

}  // namespace bench
