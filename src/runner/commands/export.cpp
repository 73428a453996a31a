// benchctl export FORMAT RUN: a run for other programs.
#include "results/export.h"

#include <array>

#include "core/text.h"
#include "runner/commands/command.h"
#include "runner/find_run.h"

namespace bench {
namespace {

const std::vector<std::string> kFormats = {"csv", "json", "jsonl"};

void export_run(const std::string& format, const RunRecords& records) {
  const RunReport report = make_run_report(records);
  if (format == "csv") return print(to_csv(report));
  if (format == "jsonl") return print(to_jsonl(report, &records));
  print(to_json(report));
}

}  // namespace

void add_export(CLI::App& app, CommandResult&) {
  CLI::App* command = app.add_subcommand("export", "A run for other programs: csv, json, jsonl");
  command->footer(
      "Example: benchctl export csv latest > latest.csv\n"
      "csv: one row a result; json: the report; jsonl: one result a line with its samples.");
  struct Options : ReadingOptions {
    std::string format;
    std::string run = "latest";
  };
  auto options = std::make_shared<Options>();
  command->add_option("format", options->format, "csv, json or jsonl")
      ->required()
      ->type_name("FORMAT");
  command->add_option("run", options->run, "A run's id, its beginning, or latest (default: latest)")
      ->type_name("RUN");
  add_reading_options(*command, *options);
  command->callback([options] {
    if (std::ranges::find(kFormats, options->format) == kFormats.end())
      throw Error(
          ErrorKind::usage,
          "there is no format '" + options->format + "'." + did_you_mean(options->format, kFormats),
          "formats: " + join(kFormats, ", "));
    export_run(options->format, read_run(find_run(options->runs(), options->run)));
  });
}

}  // namespace bench
