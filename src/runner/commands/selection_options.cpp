#include "runner/commands/selection_options.h"

#include <algorithm>

#include "core/metric_names.h"
#include "core/text.h"
#include "core/time.h"
#include "results/store/store.h"
#include "results/verdicts/compare/compare.h"
#include "results/verdicts/compare/selector.h"

namespace bench {
namespace {

/// IDs of runs that were not discarded, oldest first.
std::vector<std::string> runs_that_count(const Store& store) {
  std::vector<std::string> ids;
  for (const RunRow& run : store.runs())
    if (!run.discarded) ids.push_back(run.id);
  std::ranges::reverse(ids);
  return ids;
}

}  // namespace

std::vector<Side> read_sides(const ReadingOptions& options, const std::vector<std::string>& texts,
                             const std::vector<std::string>& metrics,
                             std::map<MetricKey, RunNoise>& noise) {
  std::vector<Side> sides;
  if (std::ranges::all_of(texts, is_file_selector)) {
    for (const std::string& text : texts)
      sides.push_back(read_file_side(parse_selector(text, {}).file, metrics));
    return sides;
  }
  const Store store = Store::open(options.database(), Access::read);
  const auto runs = runs_that_count(store);
  std::vector<Selector> selectors;
  for (const std::string& text : texts) selectors.push_back(parse_selector(text, runs));
  const Histories histories(store);
  for (const Selector& selector : selectors)
    sides.push_back(read_side(histories, selector, metrics));
  const bool files = std::ranges::any_of(texts, is_file_selector);
  if (!files && sides.size() == 2 && needs_run_noise(sides[0], sides[1]))
    noise = run_noise(histories, sides[0], sides[1]);
  return sides;
}

std::vector<Side> read_sides(const ReadingOptions& options, const std::vector<std::string>& texts,
                             const std::vector<std::string>& metrics) {
  std::map<MetricKey, RunNoise> unused;
  return read_sides(options, texts, metrics, unused);
}

Selection SelectionOptions::selection() const {
  Selection selection;
  selection.metrics = current_metric_names(metrics);
  selection.hosts = hosts;
  selection.labels = labels_from(labels);
  if (!from.empty()) selection.from_ns = parse_time(from);
  if (!to.empty()) selection.to_ns = parse_time(to);
  return selection;
}

void add_selection_options(CLI::App& command, SelectionOptions& options) {
  add_repeated(command, "--metric", options.metrics,
               "Include only metrics with this name or prefix (default: all)")
      ->type_name("NAME");
  add_repeated(command, "--host", options.hosts,
               "Show only this host, compared with all others (default: all)")
      ->type_name("HOST");
  add_repeated(command, "--label", options.labels,
               "Include only runs with this label (default: all)")
      ->type_name("NAME=VALUE");
  add_value(command, "--from", options.from, "TIME",
            "Include only runs started at this time or later (default: all)");
  add_value(command, "--to", options.to, "TIME",
            "Include only runs started before this time (default: all)");
}

}  // namespace bench
