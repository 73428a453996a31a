// What the commands share. Each has a file of its own with one function that adds it to the
// program.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/json_document.h"

namespace bench {

/// Where a command leaves its exit code.
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
void add_compare(CLI::App& app, CommandResult& result);
void add_nightly(CLI::App& app, CommandResult& result);
void add_mlperf(CLI::App& app, CommandResult& result);
/// A kind of import.
void add_import_mlperf(CLI::App& import, CommandResult& result);
/// Kinds of report.
void add_regression_report(CLI::App& report, CommandResult& result);
void add_calibration_report(CLI::App& report, CommandResult& result);
void add_roofline_report(CLI::App& report, CommandResult& result);
void add_scaling_report(CLI::App& report, CommandResult& result);
void add_fleet_report(CLI::App& report, CommandResult& result);

/// --json and --db, which every reading command takes.
struct ReadingOptions {
  bool json = false;
  std::string db;
  std::filesystem::path database() const;
  std::filesystem::path runs() const;
};
void add_reading_options(CLI::App& command, ReadingOptions& options);

/// An option that takes one value each time it is given.
CLI::Option* add_repeated(CLI::App& command, const std::string& name,
                          std::vector<std::string>& values, const std::string& text);

/// NAME=VALUE of each --label. Throws Error(usage).
std::map<std::string, std::string> labels_from(const std::vector<std::string>& texts);

/// One JSON document on stdout, indented, with a newline. Throws Error(environment) when stdout is
/// closed or full: an answer that did not arrive is none.
void print(const Json& json);
void print(const std::string& text);
/// A long text, piece by piece as `make` gives them to what it is given.
void print_pieces(const std::function<void(const Write&)>& make);

}  // namespace bench
