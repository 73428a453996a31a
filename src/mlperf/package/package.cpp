#include "mlperf/package/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>

#include "core/disclaimer.h"
#include "core/error.h"
#include "core/json.h"
#include "core/mllog.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "mlperf/log/run_facts.h"
#include "mlperf/submission/system_description.h"

namespace bench::mlperf {
namespace {

// Replaces the placeholders that training scripts leave in logs.

struct Placeholder {
  std::string_view key;    // as logged, with quotes
  std::string_view value;  // as logged, with the closing quote
};
constexpr Placeholder kOrganisation{"\"submission_org\"", "SUBMISSION_ORG_PLACEHOLDER\""};
constexpr Placeholder kPlatform{"\"submission_platform\"", "SUBMISSION_PLATFORM_PLACEHOLDER\""};

/// Only after the token and the key. A count of nodes before it stays
/// ("8xSUBMISSION_PLATFORM_..."), unless it is a placeholder too ("Nx...").
bool fill(std::string& line, const Placeholder& placeholder, const std::string& name) {
  const std::size_t token = line.rfind(kMllogToken);
  if (token == std::string::npos) return false;
  const std::size_t key = line.find(placeholder.key, token);
  if (key == std::string::npos) return false;
  const std::size_t value = line.find(placeholder.value, key);
  if (value == std::string::npos) return false;
  const std::string_view before = std::string_view(line).substr(0, value);
  const std::string_view count = before.substr(before.rfind('"') + 1);
  const bool counted = count.size() > 1 && count.back() == 'x' &&
                       count.find_first_not_of("0123456789") == count.size() - 1;
  const std::size_t unknown_count = count == "Nx" ? count.size() : 0;
  if (!count.empty() && !counted && unknown_count == 0) return false;
  line.replace(value - unknown_count, placeholder.value.size() + unknown_count,
               dump(Json(name)).substr(1));
  return true;
}

}  // namespace

std::string replace_placeholders(const std::string& log, const std::string& submitter,
                                 const std::string& system, std::size_t& filled) {
  std::string text;
  text.reserve(log.size());
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find_first_of("\n\r", begin), log.size() - 1) + 1;
    std::string line = log.substr(begin, end - begin);
    begin = end;
    if (line.find("_PLACEHOLDER\"") != std::string::npos &&
        (fill(line, kOrganisation, submitter) || fill(line, kPlatform, system)))
      ++filled;
    text += line;
  }
  return text;
}

namespace {

/// The line with which `benchctl train` marks a twin (docs/training.md).
bool is_twin_log(const PackagedLog& log) {
  return log.text.find("\"key\": \"benchctl_twin\"") != std::string::npos;
}

}  // namespace

std::string division_of(const std::vector<PackagedLog>& logs, const std::string& wanted) {
  std::string found, from;
  for (const PackagedLog& log : logs) {
    const std::string division = facts_of(read_log_text(log.text, log.from)).division;
    if (division.empty()) continue;
    if (!wanted.empty() && division != wanted)
      throw Error(ErrorKind::input,
                  printable(log.from + " is of the " + division + " division, not " + wanted),
                  "omit --division, or log the run again as " + wanted);
    if (!found.empty() && division != found)
      throw Error(ErrorKind::input,
                  printable(from + " is of the " + found + " division, " + log.from + " of the " +
                            division),
                  "package the logs of one division");
    found = division;
    from = log.from;
  }
  if (!found.empty()) return found;
  return wanted.empty() ? "open" : wanted;
}

ChosenLogs chosen_logs(const std::vector<PackagedLog>& logs, const EntryScore& score) {
  ChosenLogs chosen;
  if (!score.window || score.runs.size() != logs.size()) return {logs, {}};
  for (const std::size_t run : score.window->runs) chosen.logs.push_back(logs.at(run));
  for (std::size_t i = 0; i < logs.size(); ++i)
    if (std::ranges::find(score.window->runs, i) == score.window->runs.end())
      chosen.left_out.push_back(logs[i].from);
  return chosen;
}

std::vector<TodoItem> todo_items(const EntryScore& score, const std::vector<PackagedLog>& logs) {
  std::vector<TodoItem> found;
  if (std::ranges::any_of(logs, is_twin_log))
    found.push_back({"the logs",
                     "they are from a twin on generated data, which no MLPerf division accepts: "
                     "train the benchmark itself"});
  for (const std::string& problem : score.problems)
    found.push_back({"results/" + score.system + "/" + score.benchmark, printable(problem)});
  return found;
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 128;
constexpr std::size_t kMaxFileBytes = 50 << 20;  // limit of the official repository check

/// Allows only names that are safe for git, file systems and shells.
void check_folder_name(const std::string& what, const std::string& name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 128 && (std::isalnum(byte) != 0 || c == '.' || c == '_' || c == '+' || c == '-');
  });
  if (!name.empty() && name.size() <= kLongestName && plain && name.front() != '.' &&
      name.front() != '-')
    return;
  throw Error(ErrorKind::usage,
              "the " + what + " '" + printable(name.substr(0, kLongestName)) +
                  "' is not a valid folder name in a submission",
              "use letters, digits, '.', '_', '+' and '-', but do not begin with '.' or "
              "'-'");
}

void refuse_existing(const fs::path& path) {
  std::error_code none;
  if (fs::exists(fs::symlink_status(path, none)))
    throw Error(ErrorKind::input, printable(path.string()) + ": already exists",
                "choose another folder, system or benchmark, or remove it");
}

std::string readme(const PackageRequest& request) {
  std::string text = fmt::format(
      "# {} of {}\n"
      "\n"
      "{}: this package was generated automatically.\n"
      "\n",
      request.benchmark, request.submitter, kNotVerified);
  text += "## Steps to run\n\n";
  if (request.commands.empty()) text += "TODO: the commands that produced the logs.\n";
  for (const std::string& command : request.commands) text += "    " + printable(command) + "\n";
  return text +
         "\n## Steps to download and verify data\n\nTODO\n\n## Steps to launch on this system\n\n"
         "TODO: scheduler, containers, environment.\n";
}

void add_readme(const PackageRequest& request, Package& package) {
  const fs::path file = package.folder / "benchmarks" / request.benchmark / "implementations" /
                        request.implementation / "README.md";
  std::error_code none;
  if (fs::exists(fs::symlink_status(file, none))) return;  // it may have been edited
  write_file(file, readme(request));
  package.files.push_back(file);
  package.todo.push_back({fs::relative(file, package.folder.parent_path()).string(),
                          "add the source code and how to run it"});
}

void add_description(const PackageRequest& request, Package& package) {
  const fs::path file = package.folder / "systems" / (request.system + ".json");
  std::error_code none;
  if (fs::exists(fs::symlink_status(file, none))) {
    package.todo.push_back({"systems/" + request.system + ".json",
                            "kept the existing file: check that it is up to date"});
    return;
  }
  write_file(file,
             request.description.fields.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  package.files.push_back(file);
  for (const TodoItem& one : request.description.todo)
    package.todo.push_back({"systems/" + request.system + ".json: " + one.what, one.why});
}

void add_logs(const PackageRequest& request, const fs::path& results, Package& package) {
  for (std::size_t i = 0; i < request.logs.size(); ++i) {
    const PackagedLog& log = request.logs[i];
    package.files.push_back(results / fmt::format("result_{}.txt", i));
    write_file(package.files.back(),
               replace_placeholders(log.text, request.submitter, request.system, package.filled));
    if (log.text.size() > kMaxFileBytes)
      package.todo.push_back(
          {package.files.back().filename().string(),
           "the submission checker rejects files over 50 MiB: remove lines that are "
           "not MLLOG lines"});
  }
}

}  // namespace

Package write_package(const PackageRequest& request) {
  check_folder_name("submitter", request.submitter);
  check_folder_name("system", request.system);
  check_folder_name("benchmark", request.benchmark);
  check_folder_name("implementation", request.implementation);
  if (request.logs.empty())
    throw Error(ErrorKind::input, "no logs to package",
                "pass runs of `benchctl train`, or a folder with result_*.txt");
  Package package;
  package.folder = request.folder / request.submitter;
  const fs::path results = package.folder / "results" / request.system / request.benchmark;
  refuse_existing(results);
  add_logs(request, results, package);
  add_description(request, package);
  add_readme(request, package);
  return package;
}

}  // namespace bench::mlperf
