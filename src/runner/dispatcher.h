// Runs a plan: starts rank processes, gives them one job at a time, keeps every record at once, and
// turns whatever goes wrong into an outcome with a reason. After a fault the rest of the jobs goes
// to a fresh process.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runner/ceilings.h"
#include "runner/device_limits.h"
#include "runner/golden_values.h"
#include "runner/planner.h"
#include "runner/progress.h"
#include "runner/rank_process.h"
#include "runner/run_directory.h"
#include "runner/spool.h"

namespace bench {

struct DispatcherSettings {
  Graces graces;
  Graces interrupted_graces{Seconds{1.0}, Seconds{0.5}, Seconds{0.2}};  // ^C ends within 2 s
  Seconds handshake{30.0};  // from the start to the program's facts
  Seconds finish{5.0};      // from the end of its input to its end
  std::string version;      // what bench-rank must be
  GoldenValues golden = {};
  Signaller signaller = signal_session;
};

class Dispatcher {
 public:
  Dispatcher(const ProbeCatalogue& catalogue, const LaunchSite& site, const RunDirectory& directory,
             Spool& spool, Progress& progress, const Interrupts& interrupts,
             DispatcherSettings settings);

  /// False when the user interrupted; the rest then has the outcome skipped. Throws
  /// Error(environment) when records cannot be kept or bench-rank is of another version.
  bool run(const Plan& plan);

 private:
  /// What a record that came while a job ran means for that job.
  enum class Meaning { more, outcome, late, foreign };

  void run_entry(const PlanEntry& entry);
  bool ready_process(const PlanEntry& entry);
  bool shake_hands(const PlanEntry& entry);
  void check_version(const Facts& facts);
  std::vector<KnownLimit> limits_for(const Job& job);
  void refuse_launch(const PlanEntry& entry, const std::string& reason);
  /// False when the job must be run again, because an earlier one disturbed it.
  bool run_job(const PlanEntry& entry);
  Job send(const PlanEntry& entry);
  Meaning take(const Received& received, const Job& job);
  void after_outcome(const Job& job);
  void give_up(const Job& job, Status status, const std::string& what);
  std::string stop_rank(const Graces& graces, const Job* job);
  void interrupt(const Job& job);
  void finish_process();

  void keep(const Received& received, const Job& job);
  void conclude(const Job& job, Status status, const std::string& reason);
  void overrule(const std::string& id);
  void write(const std::string& job, decltype(Record::body) body);
  std::string with_last_words(const std::string& reason);
  Clock::time_point wake(Clock::time_point deadline) const;
  double job_seconds() const;

  const LaunchSite& site_;
  const RunDirectory& directory_;
  Spool& spool_;
  Progress& progress_;
  const Interrupts& interrupts_;
  DispatcherSettings settings_;
  Ceilings ceilings_;
  std::optional<DeviceFacts> device_;  // of the rank process that runs now
  Json libraries_;                     // that it measures with
  std::string host_;

  std::unique_ptr<RankProcess> rank_;
  std::string rank_key_;
  std::set<std::string> served_;                // jobs of this process that have their outcome
  std::map<std::string, std::string> refused_;  // launch key -> why it cannot be started
  int launches_ = 0;
  bool interrupted_ = false;
  Clock::time_point job_started_;
};

}  // namespace bench
