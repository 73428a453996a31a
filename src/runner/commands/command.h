// Shared by all commands. Each command has its own file with one function that registers it.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/json_document.h"

namespace bench {

/// Receives the exit code of the selected command.
struct CommandResult {
  ExitCode code = ExitCode::ok;
};

void add_list(CLI::App& app, CommandResult& result);
void add_plan(CLI::App& app, CommandResult& result);
void add_run(CLI::App& app, CommandResult& result);
void add_resume(CLI::App& app, CommandResult& result);
void add_show(CLI::App& app, CommandResult& result);
void add_runs(CLI::App& app, CommandResult& result);
void add_export(CLI::App& app, CommandResult& result);
void add_rebuild(CLI::App& app, CommandResult& result);
void add_import(CLI::App& app, CommandResult& result);
void add_golden(CLI::App& app, CommandResult& result);
void add_note(CLI::App& app, CommandResult& result);
void add_unstage(CLI::App& app, CommandResult& result);
void add_accept(CLI::App& app, CommandResult& result);
void add_topology(CLI::App& app, CommandResult& result);
void add_train(CLI::App& app, CommandResult& result);
void add_report(CLI::App& app, CommandResult& result);
void add_profile(CLI::App& app, CommandResult& result);
void add_compare(CLI::App& app, CommandResult& result);
void add_nightly(CLI::App& app, CommandResult& result);
void add_mlperf(CLI::App& app, CommandResult& result);
void add_predict(CLI::App& app, CommandResult& result);
void add_doctor(CLI::App& app, CommandResult& result);
void add_init(CLI::App& app, CommandResult& result);
void add_verify(CLI::App& app, CommandResult& result);
void add_completion(CLI::App& app, CommandResult& result);
void add_manual(CLI::App& app, CommandResult& result);
/// Subcommands of import.
void add_import_mlperf(CLI::App& import, CommandResult& result);
void add_import_mlperf_storage(CLI::App& import, CommandResult& result);
/// Subcommands of report.
void add_regression_report(CLI::App& report, CommandResult& result);
void add_calibration_report(CLI::App& report, CommandResult& result);
void add_roofline_report(CLI::App& report, CommandResult& result);
void add_site_report(CLI::App& report, CommandResult& result);
void add_scaling_report(CLI::App& report, CommandResult& result);
void add_fleet_report(CLI::App& report, CommandResult& result);

/// Answers `benchctl complete WORD...`, which the scripts of add_completion() call.
void print_completion(const CLI::App& app, const std::vector<std::string>& words);

/// --json and --db, common to all commands that read results.
struct ReadingOptions {
  bool json = false;
  std::string db;
  std::filesystem::path database() const;
  std::filesystem::path runs() const;
};
void add_reading_options(CLI::App& command, ReadingOptions& options);
/// --db alone.
void add_database_option(CLI::App& command, ReadingOptions& options);

/// Adds an option with one value; `type` names the value in the help.
template <class Value>
CLI::Option* add_value(CLI::App& command, const std::string& name, Value& value,
                       const std::string& type, const std::string& text) {
  return command.add_option(name, value, text)->type_name(type);
}

/// Adds an option that may be repeated, with one value each time.
CLI::Option* add_repeated(CLI::App& command, const std::string& name,
                          std::vector<std::string>& values, const std::string& text);

/// Parses each KEY=VALUE of --label. Throws Error(usage).
std::map<std::string, std::string> labels_from(const std::vector<std::string>& texts);

/// Prints an indented JSON document and a newline. Throws Error(environment) when stdout is closed
/// or full.
void print(const Json& json);
void print(const std::string& text);
/// Prints a long text in pieces, as `make` passes them to its argument.
void print_pieces(const std::function<void(const Write&)>& make);

}  // namespace bench
