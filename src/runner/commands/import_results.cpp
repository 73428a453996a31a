// benchctl import FORMAT FILE: stores results of other benchmarks as runs.
#include "runner/commands/import_results.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "core/hostlist.h"
#include "core/log.h"
#include "core/text.h"
#include "core/time.h"
#include "core/whole_file.h"
#include "results/import/imported_lines.h"
#include "results/import/imported_runs.h"
#include "results/import/importers.h"
#include "results/store/store.h"
#include "runner/commands/report_output.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct ImportOptions : ReadingOptions {
  std::string file, hosts, time, operation, program;
  int ranks = 0;
  std::vector<std::string> labels;
};

/// --time, else the file's modification time.
std::int64_t time_of(const ImportOptions& options) {
  if (!options.time.empty()) return parse_time(options.time);
  std::error_code failure;
  const auto changed = fs::last_write_time(options.file, failure);
  if (failure)
    throw Error(ErrorKind::environment, "cannot read " + options.file + ": " + failure.message());
  const auto age = fs::file_time_type::clock::now() - changed;
  return now_ns() - std::chrono::duration_cast<std::chrono::nanoseconds>(age).count();
}

ImportSettings settings_of(const ImportOptions& options, const char* format) {
  ImportSettings settings;
  settings.runs = options.runs();
  settings.format = format;
  settings.file = options.file;
  if (!options.hosts.empty()) settings.hosts = expand_hostlist(options.hosts);
  if (options.ranks > 0) settings.ranks = options.ranks;
  settings.time_ns = time_of(options);
  settings.labels = Json(labels_from(options.labels));
  return settings;
}

Json as_json(const std::vector<ImportedRun>& runs, const std::vector<std::string>& notes) {
  Json imported = Json::array();
  for (const ImportedRun& run : runs)
    imported.push_back({{"run", run.run},
                        {"time", format_time(run.time_ns)},
                        {"jobs", run.jobs},
                        {"series", run.series},
                        {"values", run.values}});
  return {{"imported", std::move(imported)}, {"notes", notes}};
}

void print_imported(const ReadingOptions& options, const std::vector<ImportedRun>& runs,
                    const std::vector<std::string>& notes) {
  for (const std::string& note : notes) say(Level::warning, printable(note));
  if (options.json) return print(as_json(runs, notes));
  for (const ImportedRun& run : runs)
    print(fmt::format("{}: {} series of {} jobs, {} values\n", run.run, run.series, run.jobs,
                      run.values));
}

ExitCode import_file(const ImportOptions& options, const ImportFormat& format) {
  if (!options.program.empty() &&
      (!is_plain_name(options.program) || options.program.find('.') != std::string::npos))
    throw Error(ErrorKind::usage, "--program " + options.program + ": not a valid program name",
                "use letters, digits, - and _, for example stream");
  if (!fs::exists(options.file))
    throw Error(ErrorKind::input, "cannot read " + options.file + ": no such file",
                "give the path of the output file");
  open_input(options.file);  // refuses folders, named pipes and devices
  std::ifstream text(options.file, std::ios::binary);
  if (!text) throw_errno("read " + options.file, "give the path of the output file");
  Store::check(options.database());
  ImportedRuns runs(settings_of(options, format.name));
  format.read(ImportedFile{text, options.file, options.operation, options.program}, runs);
  if (text.bad()) throw Error(ErrorKind::environment, "cannot read all of " + options.file);
  return keep_imported(runs, options);
}

void add_format(CLI::App& import, const ImportFormat& format, CommandResult& result) {
  CLI::App* command = import.add_subcommand(format.name, format.title);
  command->footer(
      fmt::format("Example: benchctl import {} FILE --host node07\n"
                  "docs/importing.md lists how fields are mapped.",
                  format.name));
  auto options = std::make_shared<ImportOptions>();
  add_value(*command, "file", options->file, "FILE", "Read this output file of the other program")
      ->required();
  add_value(*command, "--host", options->hosts, "HOSTS",
            "Set the hosts if the file does not name them, e.g. node07 or node[01-08]");
  add_value(*command, "--time", options->time, "TIME",
            "Set the time if the file has none (default: the file's modification time)");
  add_value(*command, "--ranks", options->ranks, "N",
            "Set the number of ranks if the file has none (default: one per host)")
      ->check(CLI::Range(1, 10'000'000));
  add_repeated(*command, "--label", options->labels,
               "Label the run with KEY=VALUE; may be repeated");
  if (std::string_view(format.name) == "nccl-tests")
    add_value(*command, "--operation", options->operation, "NAME",
              "Name the collective if the output does not, e.g. all_reduce");
  if (std::string_view(format.name) == "csv")
    add_value(*command, "--program", options->program, "NAME",
              "Name the program that measured the metrics whose names have none: bandwidth "
              "becomes NAME.bandwidth");
  add_reading_options(*command, *options);
  command->callback([options, format, &result] { result.code = import_file(*options, format); });
}

}  // namespace

ExitCode keep_imported(ImportedRuns& runs, const ReadingOptions& options) {
  const auto kept = runs.keep();
  bool indexed = true;
  for (const ImportedRun& run : kept)
    indexed = index_run(run.folder, options.database(), false).has_value() && indexed;
  print_imported(options, kept, runs.notes());
  return indexed ? ExitCode::ok : ExitCode::environment;
}

void add_import_results(CLI::App& import, CommandResult& result) {
  for (const ImportFormat& format : import_formats()) add_format(import, format, result);
}

}  // namespace bench
