// Runs jobs one after another in a rank process, and turns every failure into an outcome with a
// reason. After a fault the next job gets a new process. A dispatcher has one or more lanes on
// disjoint hosts, each in its own thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/dispatch/host_check.h"
#include "runner/dispatch/ledger.h"
#include "runner/dispatch/run_directory.h"
#include "runner/hardware/device_limits.h"
#include "runner/hardware/golden_values.h"
#include "runner/launch/rank_process.h"
#include "runner/plan/planner.h"

namespace bench {

// The excluded hosts of a run: later jobs on them are skipped at once. Thread-safe.

/// An excluded host and the reason: "does not answer: ssh: connect to ... timed out".
struct ExcludedHost {
  std::string host, why;
};

class HostStates {
 public:
  /// Keeps the first reason.
  void exclude(const std::string& host, const std::string& reason);
  /// The first excluded host among these, if any.
  std::optional<ExcludedHost> first_excluded(const std::vector<std::string>& hosts) const;
  /// Host -> reason.
  std::map<std::string, std::string> out() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> out_;
};

struct LaneSettings {
  GracePeriods grace;
  GracePeriods interrupted_grace{Seconds{1.0}, Seconds{0.5},
                                 Seconds{0.2}};  // Ctrl-C ends within 2 s
  Seconds handshake{30.0};                       // from process start to the handshake
  Seconds finish{5.0};                           // from end of input to process exit
  std::string version;                           // required of bench-rank
  GoldenValues golden = {};
  Signaller signaller = signal_session;
  HostCheck check_hosts = answering_hosts;  // called after a failure that a host may have caused
  RankStateQuery rank_states =
      query_rank_states;  // called before hung ranks on several hosts are killed
};

/// Shared by the lanes of a run.
struct LaneSite {
  const LaunchSite& launch;
  const RunDirectory& directory;
  Ledger& ledger;
  HostStates& hosts;
  const Interrupts& interrupts;
};

class Lane {
 public:
  Lane(LaneSite site, const LaneSettings& settings) : site_(site), settings_(settings) {}

  /// Runs this job to an outcome. Throws Error(environment) if records cannot be written or
  /// bench-rank has another version.
  void run(const PlanEntry& entry);
  /// Ends the process, if any, and so frees its hosts.
  void finish_process();

 private:
  /// What a received record means for the running job.
  enum class Meaning { more, outcome, late, foreign };

  void run_to_outcome(const PlanEntry& entry);
  void clear(const PlanEntry& entry);
  bool ready_process(const PlanEntry& entry);
  bool await_handshake(const PlanEntry& entry);
  std::string check_handshake(const Record& program_facts, const PlanEntry& entry);
  std::vector<KnownLimit> limits_for(const Job& job) const;
  void refuse_launch(const PlanEntry& entry, const std::string& reason);
  /// False if the job must be run again because an earlier one disturbed it.
  bool run_job(const PlanEntry& entry);
  Job send(const PlanEntry& entry);
  Meaning take(const Received& received, const Job& job);
  void after_outcome(const Job& job);
  void give_up(const PlanEntry& entry, Status status, const std::string& what);
  std::string stop_rank(const GracePeriods& grace, const Job* job);
  void exclude_stuck_host(const PlanEntry& entry, const std::string& end);
  void interrupt(const Job& job);

  bool interrupted() const { return site_.interrupts.count() > 0; }
  std::string where(const PlanEntry& entry, const std::string& reason) const;
  std::string rank_states(const PlanEntry& entry) const;
  /// Checks the hosts of a failed job and kills leftover processes there. Excludes hosts that do
  /// not answer. Returns its findings; "" if no host is remote.
  std::string check_job_hosts(const PlanEntry& entry);
  void exclude(const Job& job, const std::string& host, const std::string& why);
  void record_exclusion(const Job& job, const std::string& host, const std::string& why);
  void conclude(const Job& job, Status status, const std::string& reason);
  std::string with_stderr_tail(const std::string& reason);
  Clock::time_point wake(Clock::time_point deadline) const;
  double job_seconds() const;

  LaneSite site_;
  const LaneSettings& settings_;
  std::optional<DeviceFacts> device_;  // of the current rank process
  Json libraries_;                     // used by the current rank process

  std::unique_ptr<RankProcess> rank_;
  std::string rank_key_;
  std::set<std::string> served_;                // jobs of this process with an outcome
  std::map<std::string, std::string> refused_;  // launch key -> reason of failed start
  Clock::time_point job_started_;
};

}  // namespace bench
