// Options that select histories for a report: --metric, --host, --label, --from, --to.
#pragma once

#include <string>
#include <vector>

#include "results/history/history.h"
#include "runner/commands/command.h"

namespace bench {

struct SelectionOptions {
  std::vector<std::string> metrics, hosts, labels;
  std::string from, to;

  /// Throws Error(usage) for a label without '=', Error(input) for an invalid time.
  Selection selection() const;
};

void add_selection_options(CLI::App& command, SelectionOptions& options);

}  // namespace bench
