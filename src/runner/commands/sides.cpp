#include "runner/commands/sides.h"

#include <algorithm>

#include "results/compare/run_noise.h"
#include "results/compare/selector.h"
#include "results/store.h"

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

}  // namespace bench
