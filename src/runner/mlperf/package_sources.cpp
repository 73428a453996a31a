#include "runner/mlperf/package_sources.h"

#include <filesystem>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "results/json_fields.h"
#include "results/mlperf/submission/submission.h"
#include "results/training/mllog_files.h"
#include "runner/find_run.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

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
    throw Error(
        ErrorKind::input,
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

}  // namespace

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

}  // namespace bench
