// Runs a plan: assigns its jobs to lanes, as many at once as disjoint hosts and --parallel allow.
// Lanes send the jobs and handle faults.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/dispatch/lane.h"
#include "runner/dispatch/ledger.h"
#include "runner/plan/planner.h"

namespace bench {

// Decides which job may run next. A host runs one job at a time, in plan order, because earlier
// results are limits for later jobs. Jobs on other hosts do not wait. Not thread-safe.

class Schedule {
 public:
  /// Schedules the entries that are not skipped; jobs are named by position in `entries`, which
  /// must outlive this. `by_rounds`: hosts that wait for a lane take turns by repeats, so that a
  /// drift in time hits all of them alike, not those that are measured last.
  explicit Schedule(const std::vector<PlanEntry>& entries, bool by_rounds = false);

  /// Takes the first job whose hosts are all free, and its hosts; empty if all jobs must wait.
  std::optional<std::size_t> take();
  /// After `done`: takes the next job on exactly its hosts if the same process can run it. Empty:
  /// end the process, then call free().
  std::optional<std::size_t> follow(std::size_t done);
  void free(std::size_t done);

  /// Whether another job waits for a host of this running job.
  bool is_awaited(std::size_t running) const;

  /// All jobs have been taken.
  bool empty() const { return left_ == 0; }
  /// Jobs not taken, for example after an interruption.
  std::vector<std::size_t> left() const;

 private:
  struct HostQueue {
    std::deque<std::size_t> jobs;
    bool taken = false;
  };
  bool may_run(std::size_t job) const;
  void look_at(std::size_t host);
  std::size_t mark_taken(std::size_t job);

  const std::vector<PlanEntry>& entries_;
  bool by_rounds_;
  std::vector<std::vector<std::size_t>> hosts_of_;  // of each entry, as positions in queues_
  std::vector<HostQueue> queues_;
  std::set<std::size_t> ready_;
  std::vector<bool> taken_;
  std::size_t left_ = 0;
};

struct DispatcherSettings : LaneSettings {
  int parallel = 1;                  // jobs at once
  std::filesystem::path stage = {};  // the bundle for hosts without the program; "" for none
  std::map<std::string, std::string> out = {};  // hosts excluded from the start -> reason
  std::optional<Clock::time_point> end = {};    // jobs not started by then are skipped
  std::filesystem::path gauges = {};            // of running trainings; empty: nowhere
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
  const DispatcherSettings settings_;
  Ledger ledger_;
  HostStates hosts_;

  std::mutex mutex_;  // guards the schedule and the members below
  std::condition_variable freed_;
  std::exception_ptr failure_;
};

}  // namespace bench
