// Shared by a run's lanes: the spool, the progress display, the running trainings, and the limits
// measured so far. Guarded by one lock, held during a write of records.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>

#include "runner/dispatch/progress.h"
#include "runner/dispatch/run_directory.h"
#include "runner/dispatch/training_view.h"
#include "runner/hardware/ceilings.h"
#include "runner/launch/rank_process.h"

namespace bench {

/// Where gauges of running trainings are written, every five seconds.
struct LiveGauges {
  std::filesystem::path file = {};  // empty: nowhere
  std::string run = {};
};

class Ledger {
 public:
  /// `launches`: processes started by an earlier part of the run.
  Ledger(const ProbeCatalogue& catalogue, Spool& spool, Progress& progress, int launches,
         LiveGauges gauges = {});

  void start(const PlanEntry& entry);
  /// Stores a rank's record as it was sent. `job`: its samples become limits for later jobs, and
  /// its training is shown.
  void keep(const Received& received);
  void keep(const Received& received, const Job& job);
  /// Writes a record of benchctl. `host`: its subject; this host if empty.
  void write(const std::string& job, decltype(Record::body) body, const std::string& host = "");

  /// Records an outcome that the rank reported.
  void finish(const Job& job, const Outcome& outcome);
  /// Writes and records an outcome that the rank did not report.
  void conclude(const Job& job, const Outcome& outcome);
  /// Skips a job for an external reason; `benchctl resume` runs it.
  void defer(const Job& job, const std::string& why, Seconds after = {});
  /// Marks an ended job as failed.
  void discard_result(const std::string& job);
  /// Records a job that the plan skips.
  void skip(const Job& job, const std::string& reason);

  std::vector<KnownLimit> limits_for(const Job& job) const;
  /// Redraws and syncs when due.
  void tick();
  void sync();
  /// Time until the next tick().
  Seconds pace() const;
  /// Numbers started processes from 1.
  int next_launch();

 private:
  /// The gauges if they are due, or now; "" for none. Under the lock; write them without it.
  std::string gauges_due(bool now);
  void write_gauges(const std::string& text);
  void finish_job(const Job& job, const Outcome& outcome, bool believed);

  mutable std::mutex mutex_;
  Spool& spool_;
  Progress& progress_;
  Ceilings ceilings_;
  int launches_;
  TrainingView trainings_ = {};
  LiveGauges gauges_;
  std::chrono::steady_clock::time_point gauges_due_ = {};
  std::mutex gauges_mutex_ = {};  // of writing the file
  bool gauges_failed_ = false;
};

}  // namespace bench
