// benchctl mlperf package: package logs and a system description, and list the open tasks.
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/log.h"
#include "core/text.h"
#include "mlperf/check/check.h"
#include "mlperf/package/package.h"
#include "mlperf/rules/rule_set.h"
#include "mlperf/submission/submission.h"
#include "results/output/mlperf/package_output.h"
#include "results/run/machines.h"
#include "results/run/run_records.h"
#include "results/verdicts/training/mllog_files.h"
#include "runner/commands/command.h"
#include "runner/commands/mlperf/mlperf_command.h"
#include "runner/commands/report_pages.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// The sources of a package: stored training runs and log files.

struct PackageSources {
  std::vector<mlperf::PackagedLog> logs;
  std::vector<RunRecords> runs;       // their host facts describe the system
  std::vector<std::string> commands;  // commands that produced the logs
};

constexpr std::uintmax_t kMaxLogBytes = std::uintmax_t{1} << 30;

bool is_run(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder / "plan.json", none) && fs::exists(folder / "records.jsonl", none);
}

void add_logs_of_run(const RunRecords& run, PackageSources& sources) {
  const auto texts = mllog_texts(std::vector<RunRecords>{run});
  if (texts.empty())
    throw Error(ErrorKind::input, run.run + ": the run has no MLLOG lines",
                "package runs of `benchctl train` with a target, or of the probe external");
  for (const MllogText& text : texts) {
    if (text.resumed)
      throw Error(ErrorKind::input, run.run + ", job " + text.job + ": " + text.trouble,
                  "package runs that trained in one piece");
    if (!text.trouble.empty())
      say(Level::warning, printable("MLLOG of job " + text.job + ": " + text.trouble));
    sources.logs.push_back({run.run + " " + text.job, text.text});
  }
}

void add_run_of(const fs::path& folder, bool with_logs, PackageSources& sources) {
  RunRecords run = read_run(folder);
  std::vector<std::string> words;
  for (const Json& word : array_field(run.plan, "command"))
    if (word.is_string()) words.push_back(word.get<std::string>());
  if (with_logs) {
    add_logs_of_run(run, sources);
    if (!words.empty()) sources.commands.push_back(join(words, " "));
  }
  sources.runs.push_back(std::move(run));
}

void add_log_file(const fs::path& file, PackageSources& sources) {
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(file, failure);
  if (!failure && bytes > kMaxLogBytes)
    throw Error(ErrorKind::input,
                printable(file.string()) + ": the log has " + std::to_string(bytes) + " bytes",
                "submissions allow at most 50 MiB per file: remove lines that are not "
                "MLLOG lines");
  sources.logs.push_back({file.string(), read_file(file)});
}

void add_folder_of_logs(const fs::path& folder, PackageSources& sources) {
  const mlperf::Submission found = mlperf::find_submission(folder);
  if (found.entries.size() > 1)
    throw Error(ErrorKind::input,
                printable(folder.string()) + ": contains the results of " +
                    std::to_string(found.entries.size()) + " benchmarks",
                "package one at a time: pass the folder with its result_*.txt");
  const auto& files = found.entries.empty() ? found.loose : found.entries.front().logs;
  for (const fs::path& file : files) add_log_file(file, sources);
}

/// Each word is the folder or ID of a run, a log, or a folder of logs. `facts`: runs that only
/// describe the system. Throws Error(input) for anything else, a run without MLLOG lines, or a log
/// over 1 GiB.
PackageSources package_sources(const std::vector<std::string>& words,
                               const std::vector<std::string>& facts,
                               const ReadingOptions& options) {
  PackageSources sources;
  std::error_code none;
  for (const std::string& word : words) {
    if (is_run(word))
      add_run_of(word, true, sources);
    else if (fs::is_directory(word, none))
      add_folder_of_logs(word, sources);
    else if (fs::exists(word, none))
      add_log_file(word, sources);
    else
      add_run_of(find_run(options.runs(), word), true, sources);
  }
  for (const std::string& run : facts) add_run_of(find_run(options.runs(), run), false, sources);
  return sources;
}

struct PackageOptions : ReadingOptions {
  std::vector<std::string> sources, facts, fields;
  std::string division;  // "": that of the logs
  mlperf::SubmissionScoreSettings settings;
  mlperf::SystemOptions words;
  mlperf::PackageRequest request;
  PageOptions pages;
};

/// Parses FIELD=TEXT of each --set.
std::map<std::string, std::string> fields_from(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> fields;
  const auto& known = mlperf::system_fields();
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || std::ranges::find(known, name) == known.end())
      throw Error(ErrorKind::usage,
                  "--set " + printable(text) +
                      ": not FIELD=TEXT with a field of the system description." +
                      did_you_mean(name, known),
                  "write it as --set cooling=Air-cooled");
    fields[name] = text.substr(equals + 1);
  }
  return fields;
}

mlperf::DescribedSystem described(const PackageSources& sources, const PackageOptions& options) {
  std::vector<Machine> hosts;
  Json training_programs = Json::array();
  for (const RunRecords& run : sources.runs) {
    for (Machine& machine : machines(run, {})) {
      std::erase_if(hosts, [&](const Machine& one) { return one.host == machine.host; });
      hosts.push_back(std::move(machine));
    }
    for (Json& program : programs(run)) training_programs.push_back(std::move(program));
  }
  mlperf::SystemOptions words = options.words;
  words.submitter = options.request.submitter;
  words.division = mlperf::division_of(sources.logs, options.division);
  words.fields = fields_from(options.fields);
  return describe_system(hosts, training_programs, words);
}

/// A temporary folder, removed with its content.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "benchctl-package-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw_errno("create a folder in " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

mlperf::EntryScore score_of(const mlperf::Package& package, const PackageOptions& options) {
  const fs::path results = package.files.front().parent_path();
  return score_submission(mlperf::find_submission(results), options.settings).entries.at(0);
}

mlperf::CheckReport check_of(const mlperf::Package& package, const PackageOptions& options) {
  mlperf::CheckOptions asked;
  asked.rule_sets = mlperf::rule_set_folder();
  asked.rule_set = options.settings.ruleset;
  return check_submission(mlperf::find_submission(package.files.front().parent_path()), asked);
}

/// Selects the window that counts from more runs than required, by scoring a trial package.
mlperf::ChosenLogs logs_to_submit(const PackageOptions& options,
                                  const mlperf::PackageRequest& request) {
  const ScratchFolder trial;
  mlperf::PackageRequest all = request;
  all.folder = trial.path();
  return chosen_logs(request.logs, score_of(write_package(all), options));
}

ExitCode package_logs(const PackageOptions& options) {
  PackageSources sources = package_sources(options.sources, options.facts, options);
  mlperf::PackageRequest request = options.request;
  request.description = described(sources, options);
  request.logs = std::move(sources.logs);
  request.commands = sources.commands;
  const mlperf::ChosenLogs chosen = logs_to_submit(options, request);
  request.logs = chosen.logs;
  mlperf::CheckedPackage checked{write_package(request), {}, {}, chosen.left_out};
  checked.check = check_of(checked.package, options);
  checked.score = score_of(checked.package, options);
  for (mlperf::TodoItem& one : todo_items(checked.score, request.logs))
    checked.package.todo.push_back(std::move(one));
  show([&] { return to_document(checked); }, [&] { return to_json(checked); }, options.json,
       options.pages);
  return checked.exit_code();
}

void describe_package(CLI::App& command, PackageOptions& options) {
  mlperf::PackageRequest& request = options.request;
  command.footer(
      "Example: benchctl mlperf package latest --out submission --submitter acme --system rack7 "
      "--benchmark llama31_8b\n"
      "A source is the ID or the folder of a run of `benchctl train`, a log, or a folder with "
      "logs.\n"
      "Logs are copied unchanged, except for placeholders for the submitter and the platform.\n"
      "Exit codes: 0 all logs pass; 1 a log fails, a strict check found an "
      "error, or there is no score; 2 nothing to package.");
  command.add_option("source", options.sources, "Package these runs and logs")
      ->required()
      ->type_name("SOURCE");
  command.add_option("--out", request.folder, "Create SUBMITTER/ in this folder")
      ->required()
      ->type_name("DIR");
  command.add_option("--submitter", request.submitter, "Set the name of the organisation's folder")
      ->required()
      ->type_name("NAME");
  command.add_option("--system", request.system, "Set the name of the system's folder")
      ->required()
      ->type_name("NAME");
  command
      .add_option("--benchmark", request.benchmark,
                  "Set the benchmark by its name in the round, such as llama31_8b")
      ->required()
      ->type_name("NAME");
  command
      .add_option("--implementation", request.implementation,
                  "Set the name of the source code folder (default: benchctl)")
      ->type_name("NAME");
  command
      .add_option("--division", options.division,
                  "Demand this division of the logs (default: the one that they state, else open)")
      ->check(CLI::IsMember({"closed", "open"}));
  command.add_option("--status", options.words.status, "Set the availability of the system")
      ->check(CLI::IsMember(mlperf::system_statuses()));
  command
      .add_option("--system-name", options.words.system_name,
                  "Set the system's name in result tables")
      ->type_name("TEXT");
  command
      .add_option("--framework", options.words.framework,
                  "Set the framework and its version (default: the training program)")
      ->type_name("TEXT");
  add_repeated(command, "--set", options.fields,
               "Set another field of the system description; may be repeated")
      ->type_name("FIELD=TEXT");
  add_repeated(command, "--facts", options.facts,
               "Read system facts from this run; may be repeated (default: the packaged "
               "runs)")
      ->type_name("RUN");
  add_round_options(command, options.settings);
  add_page_options(command, options.pages);
  add_reading_options(command, options);
}

}  // namespace

void add_mlperf_package(CLI::App& mlperf, CommandResult& result) {
  CLI::App* command =
      mlperf.add_subcommand("package", "Package logs and a system description for submission");
  auto options = std::make_shared<PackageOptions>();
  describe_package(*command, *options);
  command->callback([options, &result] { result.code = package_logs(*options); });
}

}  // namespace bench
