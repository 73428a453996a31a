// Runs a plan: assigns its jobs to lanes, as many at once as disjoint hosts and --parallel allow. Lanes
// send the jobs and handle faults.
#pragma once

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include "runner/dispatch/lane.h"
#include "runner/dispatch/ledger.h"
#include "runner/dispatch/schedule.h"

namespace bench {

struct DispatcherSettings : LaneSettings {
  int parallel = 1;                  // jobs at once
  std::filesystem::path stage = {};  // the bundle for hosts without the program; "" for none
  std::map<std::string, std::string> out = {};  // hosts excluded from the start -> reason
  std::optional<Clock::time_point> end = {};    // jobs not started by then are skipped
};

class Dispatcher {
 public:
  Dispatcher(const ProbeCatalogue& catalogue, const LaunchSite& site, const RunDirectory& directory,
             Spool& spool, Progress& progress, const Interrupts& interrupts,
             DispatcherSettings settings);

  /// False when interrupted; remaining jobs are then skipped. Throws Error(environment) if records
/// cannot be written or bench-rank has another version.
  bool run(const Plan& plan);

 private:
  void run_lanes(const Plan& plan, Schedule& schedule);
  void run_lane(const Plan& plan, Schedule& schedule);
  /// Runs consecutive jobs in one process.
  void serve(Lane& lane, const Plan& plan, Schedule& schedule, std::size_t job);
  bool is_awaited(const Schedule& schedule, std::size_t job);
  void cool_down(const PlanEntry& entry) const;
  bool stopping() const { return failure_ != nullptr || interrupts_.count() > 0 || past_end(); }
  bool past_end() const { return settings_.end && Clock::now() >= *settings_.end; }

  const LaunchSite& site_;
  const RunDirectory& directory_;
  const Interrupts& interrupts_;
  DispatcherSettings settings_;
  Ledger ledger_;
  HostStates hosts_;

  std::mutex mutex_;  // guards the schedule and the members below
  std::condition_variable freed_;
  std::exception_ptr failure_;
};

}  // namespace bench
