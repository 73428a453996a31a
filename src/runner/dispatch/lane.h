// One line of work of a run: a rank process at a time, serving jobs one after another, whatever
// happens to it turned into an outcome with a reason. After a fault the next job gets a fresh
// process. A dispatcher has one lane, or several on other hosts, each in a thread of its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runner/dispatch/host_check.h"
#include "runner/dispatch/host_states.h"
#include "runner/dispatch/ledger.h"
#include "runner/dispatch/run_directory.h"
#include "runner/hardware/device_limits.h"
#include "runner/hardware/golden_values.h"
#include "runner/launch/rank_process.h"
#include "runner/plan/planner.h"

namespace bench {

struct LaneSettings {
  Graces graces;
  Graces interrupted_graces{Seconds{1.0}, Seconds{0.5}, Seconds{0.2}};  // ^C ends within 2 s
  Seconds handshake{30.0};  // from the start to the program's facts
  Seconds finish{5.0};      // from the end of its input to its end
  std::string version;      // what bench-rank must be
  GoldenValues golden = {};
  Signaller signaller = signal_session;
  HostCheck check_hosts = answering_hosts;  // asked after a failure that may be a host's
  RankLook look = look_at_ranks;  // asked before ranks on several hosts that hang are ended
};

/// What the lanes of a run share.
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

  /// To the outcome of this job. Throws Error(environment) when records cannot be kept or
  /// bench-rank is of another version.
  void run(const PlanEntry& entry);
  /// Ends the process, if there is one: its hosts are free then.
  void finish_process();

 private:
  /// What a record that came while a job ran means for that job.
  enum class Meaning { more, outcome, late, foreign };

  void run_to_outcome(const PlanEntry& entry);
  void clear(const PlanEntry& entry);
  bool ready_process(const PlanEntry& entry);
  bool shake_hands(const PlanEntry& entry);
  std::string hear(const Record& introduction, const PlanEntry& entry);
  std::vector<KnownLimit> limits_for(const Job& job) const;
  void refuse_launch(const PlanEntry& entry, const std::string& reason);
  /// False when the job must be run again, because an earlier one disturbed it.
  bool run_job(const PlanEntry& entry);
  Job send(const PlanEntry& entry);
  Meaning take(const Received& received, const Job& job);
  void after_outcome(const Job& job);
  void give_up(const PlanEntry& entry, Status status, const std::string& what);
  std::string stop_rank(const Graces& graces, const Job* job);
  void mark_wedged(const PlanEntry& entry, const std::string& end);
  void interrupt(const Job& job);

  bool interrupted() const { return site_.interrupts.count() > 0; }
  std::string where(const PlanEntry& entry) const;
  std::string doings(const PlanEntry& entry) const;
  /// Asks the hosts of a failed job who answers, and ends there what the job left behind. Hosts
  /// that do not answer are out from now on. Returns what it found; "" where nothing is remote.
  std::string look_at_hosts(const PlanEntry& entry);
  void take_out(const Job& job, const std::string& host, const std::string& why);
  void tell_out(const Job& job, const std::string& host, const std::string& why);
  void conclude(const Job& job, Status status, const std::string& reason);
  std::string with_last_words(const std::string& reason);
  Clock::time_point wake(Clock::time_point deadline) const;
  double job_seconds() const;

  LaneSite site_;
  const LaneSettings& settings_;
  std::optional<DeviceFacts> device_;  // of the rank process that runs now
  Json libraries_;                     // that it measures with

  std::unique_ptr<RankProcess> rank_;
  std::string rank_key_;
  std::set<std::string> served_;                // jobs of this process that have their outcome
  std::map<std::string, std::string> refused_;  // launch key -> why it cannot be started
  Clock::time_point job_started_;
};

}  // namespace bench
