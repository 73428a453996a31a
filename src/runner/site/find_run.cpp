#include "runner/site/find_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "results/store/store.h"
#include "results/verdicts/compare/selector.h"
#include "runner/site/site_settings.h"

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

namespace fs = std::filesystem;
namespace {

/// IDs have a resolution of one second; ties are ordered by the time of the plan.
struct Kept {
  std::string second;
  fs::file_time_type planned;
  std::string id;
  auto operator<=>(const Kept&) const = default;
};

Kept kept(const fs::path& folder) {
  const std::string id = folder.filename();
  std::error_code none;
  return {id.substr(0, id.find('-')), fs::last_write_time(folder / "plan.json", none), id};
}

bool is_run(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder / "plan.json", none) || fs::exists(folder / "records.jsonl", none);
}

std::vector<std::string> beginning_with(const std::vector<std::string>& ids,
                                        const std::string& name) {
  std::vector<std::string> found;
  std::ranges::copy_if(ids, std::back_inserter(found),
                       [&](const std::string& id) { return id.starts_with(name); });
  return found;
}

}  // namespace

std::vector<std::string> all_runs(const fs::path& runs) {
  std::vector<Kept> found;
  std::error_code failure;
  for (fs::directory_iterator it(runs, failure), end; !failure && it != end; it.increment(failure))
    if (is_run(it->path())) found.push_back(kept(it->path()));
  if (failure && failure != std::errc::no_such_file_or_directory)
    throw Error(ErrorKind::environment,
                "cannot read the runs in " + runs.string() + ": " + failure.message());
  std::ranges::sort(found);
  std::vector<std::string> ids;
  for (Kept& one : found) ids.push_back(std::move(one.id));
  return ids;
}

fs::path find_run(const fs::path& runs, const std::string& name) {
  if (name.find('/') != std::string::npos && is_run(name)) return name;
  const auto ids = all_runs(runs);
  if (ids.empty())
    throw Error(ErrorKind::input, "no runs in " + runs.string(),
                "start one with benchctl run smoke, or choose another database with --db FILE");
  if (const std::string latest = latest_run(name, ids); !latest.empty()) return runs / latest;
  if (std::ranges::find(ids, name) != ids.end()) return runs / name;
  const auto found = beginning_with(ids, name);
  if (found.size() == 1 && !name.empty()) return runs / found.front();
  if (found.size() > 1 && !name.empty())
    throw Error(ErrorKind::input,
                "'" + name + "' matches " + std::to_string(found.size()) + " runs",
                "the first two: " + found[0] + ", " + found[1]);
  throw Error(ErrorKind::input,
              "unknown run '" + name + "' in " + runs.string() + "." + did_you_mean(name, ids),
              "list runs with benchctl runs");
}

namespace {

constexpr std::string_view kLabel = "label:";

/// `text`: NAME=VALUE.
std::vector<std::string> runs_with_label(const fs::path& database, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(ErrorKind::usage, "label:" + printable(text) + ": expected label:NAME=VALUE",
                "for example label:kernel=new");
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  auto rows = Store::open(database, Access::read).runs();
  std::vector<std::string> ids;
  for (const RunRow& row : rows)
    if (row.finished && !row.discarded && row.labels.contains(name) &&
        text_of(row.labels.at(name)) == value)
      ids.push_back(row.id);
  std::ranges::reverse(ids);  // rows are newest first
  if (ids.empty())
    throw Error(ErrorKind::input, "no finished run has the label " + printable(text),
                "list runs and their labels with benchctl runs");
  return ids;
}

}  // namespace

std::vector<fs::path> find_runs(const fs::path& database, const std::vector<std::string>& names) {
  const fs::path runs = runs_folder(database);
  std::vector<fs::path> folders;
  const auto add = [&](fs::path folder) {
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(std::move(folder));
  };
  for (const std::string& name : names) {
    if (!name.starts_with(kLabel)) {
      add(find_run(runs, name));
      continue;
    }
    for (const std::string& id : runs_with_label(database, name.substr(kLabel.size())))
      add(find_run(runs, id));
  }
  return folders;
}

}  // namespace bench
