#include "runner/commands/selection_options.h"

#include "core/metric_names.h"
#include "core/text.h"

namespace bench {

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
  add_repeated(command, "--label", options.labels, "Include only runs with this label (default: all)")
      ->type_name("NAME=VALUE");
  command.add_option("--from", options.from, "Include only runs started at this time or later (default: all)")
      ->type_name("TIME");
  command.add_option("--to", options.to, "Include only runs started before this time (default: all)")
      ->type_name("TIME");
}

}  // namespace bench
