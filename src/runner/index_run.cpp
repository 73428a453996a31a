#include "runner/index_run.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "results/store.h"

namespace bench {

std::optional<RunSummary> index_run(const std::filesystem::path& run,
                                    const std::filesystem::path& database, bool hurry,
                                    RunRecords* records) {
  StoreOptions options;
  if (hurry) options.busy_timeout_ms = 300, options.attempts = 1;
  try {
    return Store::open(database, Access::write, options).import_run(run, records);
  } catch (const Error& error) {
    say(Level::warning, fmt::format("the run is kept in {}, but not in the database: {}",
                                    run.string(), printable(error.what())));
    if (!error.hint().empty()) say(Level::info, "  " + printable(error.hint()));
    say(Level::info, "  fix that, then run benchctl rebuild");
    return {};
  }
}

}  // namespace bench
