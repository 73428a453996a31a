// Runs benchctl as users do: a process with arguments, an environment and a folder for its results.
#pragma once

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/json.h"
#include "core/locations.h"
#include "runner/launch/process.h"
#include "runner/site/find_run.h"
#include "tests/support/temporary_directory.h"

namespace bench {

inline bool wait_until(const std::function<bool()>& condition, double patience_s = 10.0) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_s);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

struct Answer {
  Exit exit;
  std::string out;
  std::string err;
  double seconds = 0.0;
};

/// A started program whose output is gathered when it is waited for.
class Program {
 public:
  explicit Program(const Command& command)
      : process_(command), start_(std::chrono::steady_clock::now()) {}

  pid_t pid() const { return process_.pid(); }
  void signal(int number) const { kill(process_.pid(), number); }

  Answer wait() {
    Answer answer;
    while (process_.output.valid() || process_.error.valid()) {
      pollfd fds[2] = {{process_.output.get(), POLLIN, 0}, {process_.error.get(), POLLIN, 0}};
      poll(fds, 2, 1000);
      take(process_.output, answer.out);
      take(process_.error, answer.err);
      if (process_.ended() && poll(fds, 2, 0) == 0) break;
    }
    wait_until([&] { return process_.ended(); }, 60.0);
    answer.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    answer.exit = process_.reap();
    return answer;
  }

 private:
  static void take(Descriptor& fd, std::string& text) {
    char bytes[65536];
    ssize_t got = 0;
    while (fd.valid() && (got = read(fd.get(), bytes, sizeof bytes)) > 0)
      text.append(bytes, static_cast<std::size_t>(got));
    if (got == 0) fd.close();
  }

  Process process_;
  std::chrono::steady_clock::time_point start_;
};

struct BenchctlFolder {
  TemporaryDirectory folder;
  std::filesystem::path database = folder.path() / "results.sqlite";

  Program start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), (program_folder() / "benchctl").string());
    return Program({arguments, {{"BENCHCTL_DB", database.string()}, {"TERM", "dumb"}}});
  }
  Answer run(const std::vector<std::string>& arguments) const { return start(arguments).wait(); }

  /// Whether a run measured all it was asked for: exit code 0, or 3 for want of clean samples only,
  /// as other tests use the same cores.
  bool measured(const Answer& answer) const {
    if (answer.exit.clean()) return true;
    const Json unjudged = parse_json(run({"show", "--json"}).out, "show").at("unjudged");
    return answer.exit.text() == "exit code 3" && !unjudged.empty() &&
           std::ranges::all_of(unjudged, [](const Json& why) {
             return why.get<std::string>().find("no clean samples") != std::string::npos;
           });
  }

  /// A suite of null cases; each entry is the fault of one case, "" for none.
  std::string suite(const std::vector<std::string>& faults) const {
    Json cases = Json::array();
    for (std::size_t i = 0; i < faults.size(); ++i)
      cases.push_back({{"name", "case" + std::to_string(i + 1)},
                       {"probe", "null"},
                       {"env", {{"FAULTY_RANK", faults[i]}}}});
    const auto path = folder.path() / "suite.json";
    std::ofstream(path) << Json{{"suite", "faults"}, {"cases", cases}};
    return path.string();
  }

  Program start_suite(const std::vector<std::string>& faults) const {
    return start(
        {"run", suite(faults), "--rank-program", (program_folder() / "faulty_rank").string()});
  }

  std::filesystem::path records() const {
    const auto ids = all_runs(folder.path() / "runs");
    return ids.empty() ? std::filesystem::path()
                       : folder.path() / "runs" / ids.back() / "records.jsonl";
  }
  std::string records_text() const {
    return std::filesystem::exists(records()) ? read_file(records()) : std::string();
  }
  bool recorded(const std::string& text) const {
    return records_text().find(text) != std::string::npos;
  }
};

}  // namespace bench
