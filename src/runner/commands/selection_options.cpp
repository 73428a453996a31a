#include "runner/commands/selection_options.h"

#include "core/text.h"

namespace bench {

Selection SelectionOptions::selection() const {
  Selection selection;
  selection.metrics = metrics;
  selection.hosts = hosts;
  selection.labels = labels_from(labels);
  if (!from.empty()) selection.from_ns = parse_time(from);
  if (!to.empty()) selection.to_ns = parse_time(to);
  return selection;
}

void add_selection_options(CLI::App& command, SelectionOptions& options) {
  add_repeated(command, "--metric", options.metrics,
               "Only metrics of this name or beginning (default: all)")
      ->type_name("NAME");
  add_repeated(command, "--host", options.hosts,
               "Only what is said of this host, judged among all (default: all)")
      ->type_name("HOST");
  add_repeated(command, "--label", options.labels, "Only runs with this label (default: all)")
      ->type_name("NAME=VALUE");
  command.add_option("--from", options.from, "Only runs begun then or later (default: all)")
      ->type_name("TIME");
  command.add_option("--to", options.to, "Only runs begun before then (default: all)")
      ->type_name("TIME");
}

}  // namespace bench
