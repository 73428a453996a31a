// The questions that commands ask the database.
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "results/json_fields.h"
#include "results/sqlite.h"
#include "results/store.h"

namespace bench {
namespace {

constexpr std::size_t kListedRuns = 5;

/// JSON written by us; if edited by hand and invalid, it is empty.
Json json_of(const SQLite::Column& column) {
  Json json = Json::parse(column.getString(), nullptr, false);
  return json.is_discarded() ? Json() : json;
}

RunRow run_row(SQLite::Statement& query) {
  RunRow row;
  row.id = query.getColumn(0).getString();
  row.suite = query.getColumn(1).getString();
  row.time_ns = query.getColumn(2).getInt64();
  row.seconds = query.isColumnNull(3) ? kNoValue : query.getColumn(3).getDouble();
  for (const Json& host : json_of(query.getColumn(4)))
    if (host.is_string()) row.hosts.push_back(host);
  row.outcome = query.getColumn(5).getString();
  row.exit_code = query.getColumn(6).getInt();
  row.finished = query.getColumn(7).getInt() != 0;
  row.labels = json_of(query.getColumn(8));
  row.results = query.getColumn(9).getInt64();
  if (query.getColumn(10).getString() == "discard") row.discarded = query.getColumn(11).getString();
  return row;
}

std::string first_few(const std::vector<std::string>& ids) {
  std::vector<std::string> shown(
      ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), kListedRuns)));
  if (ids.size() > kListedRuns) shown.push_back("...");
  return join(shown, ", ");
}

[[noreturn]] void refuse_unknown(const std::string& prefix, const std::vector<std::string>& all) {
  const std::string shown = printable(prefix.substr(0, 80));
  if (all.empty())
    throw Error(ErrorKind::input, "no run '" + shown + "': no runs stored yet",
                "run a suite first: `benchctl run SUITE`");
  throw Error(ErrorKind::input, "no run '" + shown + "'." + did_you_mean(prefix, all),
              "latest runs: " + first_few(all));
}

}  // namespace

std::vector<RunRow> Store::runs() const try {
  // The last decision about a run counts.
  SQLite::Statement query(*db_,
                          "SELECT id, suite, run.time_ns, seconds, hosts, outcome, exit_code, "
                          "finished, labels, results, "
                          "last.kind, last.text FROM run LEFT JOIN journal AS last ON last.line = "
                          "(SELECT MAX(line) FROM "
                          "journal WHERE journal.run = run.id AND kind IN ('discard', 'restore')) "
                          "ORDER BY run.time_ns DESC, id DESC");
  std::vector<RunRow> rows;
  while (query.executeStep()) rows.push_back(run_row(query));
  return rows;
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

std::optional<std::string> Store::latest_run() const try {
  SQLite::Statement query(*db_, "SELECT id FROM run ORDER BY time_ns DESC, id DESC LIMIT 1");
  if (!query.executeStep()) return {};
  return query.getColumn(0).getString();
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

std::string Store::find_run(const std::string& prefix) const try {
  std::vector<std::string> all, matching;
  SQLite::Statement query(*db_, "SELECT id FROM run ORDER BY time_ns DESC, id DESC");
  while (query.executeStep()) {
    all.push_back(query.getColumn(0).getString());
    if (all.back() == prefix) return prefix;
    if (all.back().starts_with(prefix)) matching.push_back(all.back());
  }
  if (prefix == "latest" && !all.empty()) return all.front();
  if (prefix.empty() || matching.empty()) refuse_unknown(prefix, all);
  if (matching.size() > 1)
    throw Error(ErrorKind::input,
                "'" + printable(prefix) + "' is ambiguous: it matches " +
                    std::to_string(matching.size()) + " runs",
                "use a longer prefix of one of: " + first_few(matching));
  return matching.front();
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

std::vector<SeriesRow> Store::series(const std::string& metric, const std::string& host) const try {
  SQLite::Statement query(
      *db_,
      "SELECT run, device, params, median FROM series WHERE metric = ? AND host = ? AND outcome = "
      "'ok' AND median IS NOT NULL AND COALESCE((SELECT kind FROM journal WHERE journal.run = "
      "series.run AND kind IN ('discard', 'restore') ORDER BY line DESC LIMIT 1), '') <> 'discard' "
      "ORDER BY time_ns DESC");
  query.bind(1, metric);
  query.bind(2, host);
  std::vector<SeriesRow> rows;
  while (query.executeStep())
    rows.push_back({query.getColumn(0).getString(), query.getColumn(1).getString(),
                    json_of(query.getColumn(2)), query.getColumn(3).getDouble()});
  return rows;
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

HostFacts Store::latest_facts(const std::vector<std::string>& topics) const try {
  HostFacts found;
  // In a group with one MAX, SQLite takes the other columns from the row of the maximum.
  SQLite::Statement query(
      *db_, "SELECT host, facts, MAX(time_ns) FROM facts WHERE topic = ? GROUP BY host");
  for (const std::string& topic : topics) {
    query.bind(1, topic);
    while (query.executeStep())
      found[query.getColumn(0).getString()][topic] = json_of(query.getColumn(1));
    query.reset();
  }
  return found;
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

std::vector<MetricRow> Store::metrics() const try {
  std::map<std::string, std::vector<std::string>> params;
  SQLite::Statement names(
      *db_,
      "SELECT DISTINCT metric, key FROM series, json_each(series.params) ORDER BY metric, key");
  while (names.executeStep())
    params[names.getColumn(0).getString()].push_back(names.getColumn(1).getString());

  SQLite::Statement query(
      *db_,
      "SELECT metric, unit, better, COUNT(DISTINCT run), COUNT(DISTINCT host), "
      "COUNT(*) FROM series GROUP BY metric, unit, better ORDER BY metric, unit");
  std::vector<MetricRow> rows;
  while (query.executeStep()) {
    const std::string metric = query.getColumn(0).getString();
    rows.push_back({metric, query.getColumn(1).getString(), query.getColumn(2).getString(),
                    params[metric], query.getColumn(3).getInt64(), query.getColumn(4).getInt64(),
                    query.getColumn(5).getInt64()});
  }
  return rows;
} catch (const SQLite::Exception& error) {
  rethrow(error, path_);
}

}  // namespace bench
