#include "runner/commands/report_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/child_process.h"
#include "core/text.h"
#include "results/output/document/terminal.h"
#include "results/output/run/run_output.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

constexpr int kNarrowest = 60;
constexpr int kFile = 140;  // wide enough for every column when output goes to a file

/// The first of these that is set decides, as in setlocale(3).
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = environment_variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

/// Also reports a run that could not be indexed: `indexed` is false then.
RunReport indexed_report(const std::filesystem::path& run, const std::filesystem::path& database,
                         bool hurry, bool& indexed) {
  RunRecords records;
  std::optional<RunSummary> summary = index_run(run, database, hurry, &records);
  indexed = summary.has_value();
  return indexed ? make_run_report(records, std::move(*summary)) : make_run_report(read_run(run));
}

}  // namespace

void add_verbose(CLI::App& command, bool& verbose) {
  command.add_flag("--verbose", verbose,
                   "Print all rows, and the tables that only a page has otherwise");
}

TextStyle style_of_stdout(bool verbose) {
  TextStyle style;
  style.verbose = verbose;
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  style.colour = terminal && environment_variable("NO_COLOR").empty() &&
                 environment_variable("TERM") != "dumb";
  style.unicode = locale_is_utf8();
  const auto columns = static_cast<int>(terminal ? terminal_columns(STDOUT_FILENO) : 0);
  style.width = columns > 0 ? std::max<int>(kNarrowest, columns) : kFile;
  return style;
}

void print_report(const RunReport& report, const PrintedReport& how) {
  if (!how.json) return print(to_terminal(to_document(report), style_of_stdout(how.verbose)));
  print_pieces([&](const Write& write) { write_json(report, write); });
}

ExitCode report_and_index(const std::filesystem::path& run, const std::filesystem::path& database,
                          bool hurry, const PrintedReport& how) {
  bool indexed = false;
  RunReport report = indexed_report(run, database, hurry, indexed);
  report.exit_code = with_index(report.exit_code, indexed);
  print_report(report, how);
  return report.exit_code;
}

}  // namespace bench
