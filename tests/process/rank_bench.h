// A dispatcher on a temporary run directory with the faulty rank behind it, and what came out.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/locations.h"
#include "core/version.h"
#include "runner/dispatch/dispatcher.h"
#include "tests/support/temporary_directory.h"

namespace bench {

inline std::string faulty_rank() { return (program_folder() / "faulty_rank").string(); }

/// Short enough for a test, long enough for a loaded machine.
inline DispatcherSettings quick_settings() {
  DispatcherSettings settings;
  settings.grace = {Seconds{0.3}, Seconds{1.0}, Seconds{0.3}};
  settings.handshake = Seconds{10.0};
  settings.finish = Seconds{1.0};
  settings.version = std::string(version());
  return settings;
}

inline PlanEntry entry(const std::string& id, const Json& params, double timeout_s = 10.0) {
  PlanEntry result;
  result.job.id = result.job.case_name = id;
  result.job.probe = "null";
  result.job.params = params;
  result.job.hosts = {"here"};
  result.job.timeout_s = timeout_s;
  return result;
}

inline PlanEntry faulty(const std::string& fault, double timeout_s = 10.0) {
  return entry("01.bad", {{"fault", fault}}, timeout_s);
}

struct RankBench {
  TemporaryDirectory folder;
  DispatcherSettings settings = quick_settings();
  LaunchSite site{LauncherKind::automatic, faulty_rank(), "", "", false};
  ProbeCatalogue catalogue{{}};
  RunDirectory directory = RunDirectory::create(folder.path() / "runs", "test", 0);
  double seconds = 0.0;
  bool finished = false;

  void run(const std::vector<PlanEntry>& entries) {
    Plan plan;
    plan.entries = entries;
    Spool spool(directory.records_path());
    Progress progress(Progress::Style::silent, plan);
    const Interrupts interrupts;
    const auto start = std::chrono::steady_clock::now();
    finished =
        Dispatcher(catalogue, site, directory, spool, progress, interrupts, settings).run(plan);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::vector<Record> records() const {
    std::vector<Record> result;
    const std::string text = read_file(directory.records_path());
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      result.push_back(record_from_json(parse_json(text.substr(at, end - at), "records")));
      at = end + 1;
    }
    return result;
  }

  /// The outcome that counts: the last one.
  Outcome outcome(const std::string& job) const {
    Outcome last{Status::skipped, "no outcome at all", 0.0};
    for (const Record& record : records())
      if (const auto* body = std::get_if<Outcome>(&record.body); body && record.job == job)
        last = *body;
    return last;
  }

  template <class Body>
  std::size_t count(const std::string& job) const {
    std::size_t found = 0;
    for (const Record& record : records())
      found += record.job == job && std::holds_alternative<Body>(record.body);
    return found;
  }
};

}  // namespace bench
