// benchctl export FORMAT RUN: writes a run in a format for other programs.
#include "results/output/run/export.h"

#include "core/text.h"
#include "core/whole_file.h"
#include "results/output/run/run_report.h"
#include "runner/commands/command.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

const std::vector<std::string> kFormats = {"csv", "json", "jsonl", "junit", "prometheus"};

std::string exported(const std::string& format, const RunRecords& records) {
  const RunReport report = make_run_report(records);
  if (format == "csv") return to_csv(report);
  if (format == "jsonl") return to_jsonl(report, &records);
  if (format == "junit") return to_junit(report);
  if (format == "prometheus") return to_prometheus(report);
  return to_json(report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_export(CLI::App& app, CommandResult&) {
  CLI::App* command = app.add_subcommand(
      "export", "Export a run as CSV, JSON, JSON Lines, JUnit XML or Prometheus metrics");
  command->footer(
      "Example: benchctl export csv latest > latest.csv\n"
      "csv: one row per result; json: the report; jsonl: one result per line, with its samples;\n"
      "junit: one test case per job and gate; prometheus: gauges for node_exporter's textfile "
      "collector.");
  struct Options : ReadingOptions {
    std::string format;
    std::string run = "latest";
    std::string output;
  };
  auto options = std::make_shared<Options>();
  add_value(*command, "format", options->format, "FORMAT",
            "Choose the format: " + join(kFormats, ", "))
      ->required();
  add_value(*command, "run", options->run, "RUN",
            "Export this run: an ID, an ID prefix, or latest (default: latest)");
  add_value(*command, "-o,--output", options->output, "FILE",
            "Write to this file, replacing it atomically (default: stdout)");
  add_reading_options(*command, *options);
  command->callback([options] {
    if (std::ranges::find(kFormats, options->format) == kFormats.end())
      throw Error(
          ErrorKind::usage,
          "unknown format '" + options->format + "'." + did_you_mean(options->format, kFormats),
          "formats: " + join(kFormats, ", "));
    const std::string text =
        exported(options->format, read_run(find_run(options->runs(), options->run)));
    if (options->output.empty()) return print(text);
    replace_file(options->output, text);
  });
}

}  // namespace bench
