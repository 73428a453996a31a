// benchctl export FORMAT RUN: writes a run in a format for other programs.
#include "results/output/run/export.h"

#include <fmt/format.h>

#include "core/text.h"
#include "core/whole_file.h"
#include "results/output/run/run_report.h"
#include "results/output/run/tidy_csv.h"
#include "runner/commands/command.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

const std::vector<std::string> kFormats = {"csv", "json", "jsonl", "junit", "prometheus", "tidy"};

struct ExportOptions : ReadingOptions {
  std::string format;
  std::vector<std::string> runs;
  std::string output;
};

std::string tidy(const std::vector<std::filesystem::path>& folders) {
  std::vector<RunSummary> runs;
  for (const auto& folder : folders) runs.push_back(make_run_summary(read_run(folder)));
  return to_tidy_csv(runs);
}

std::string exported(const ExportOptions& options) {
  const auto folders = find_runs(
      options.database(), options.runs.empty() ? std::vector<std::string>{"latest"} : options.runs);
  if (options.format == "tidy") return tidy(folders);
  if (folders.size() > 1)
    throw Error(ErrorKind::usage,
                fmt::format("{} takes one run, not {}", options.format, folders.size()),
                "export them one by one, or as one table with `benchctl export tidy`");
  const RunRecords records = read_run(folders.front());
  const RunReport report = make_run_report(records);
  if (options.format == "csv") return to_csv(report);
  if (options.format == "jsonl") return to_jsonl(report, &records);
  if (options.format == "junit") return to_junit(report);
  if (options.format == "prometheus") return to_prometheus(report);
  return to_json(report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_export(CLI::App& app, CommandResult&) {
  CLI::App* command = app.add_subcommand(
      "export", "Export runs as CSV, JSON, JSON Lines, JUnit XML or Prometheus metrics");
  command->footer(
      "Example: benchctl export csv latest > latest.csv\n"
      "         benchctl export tidy label:kernel=new -o new.csv\n"
      "csv: one row per result; json: the report; jsonl: one result per line, with its samples;\n"
      "junit: one test case per job and gate; prometheus: gauges for node_exporter's textfile "
      "collector;\n"
      "tidy: CSV of one or several runs with a column for each parameter and label.");
  auto options = std::make_shared<ExportOptions>();
  add_value(*command, "format", options->format, join(kFormats, "|"), "Choose the format")
      ->required();
  command
      ->add_option("runs", options->runs,
                   "Export this run: an ID, an ID prefix, latest or latest~N (default: latest); "
                   "tidy takes several, and label:NAME=VALUE")
      ->type_name("RUN");
  add_value(*command, "-o,--output", options->output, "FILE",
            "Write to this file, replacing it atomically (default: stdout)");
  add_reading_options(*command, *options);
  command->callback([options] {
    if (std::ranges::find(kFormats, options->format) == kFormats.end())
      throw Error(
          ErrorKind::usage,
          "unknown format '" + options->format + "'." + did_you_mean(options->format, kFormats),
          "formats: " + join(kFormats, ", "));
    const std::string text = exported(*options);
    if (options->output.empty()) return print(text);
    replace_file(options->output, text);
  });
}

}  // namespace bench
