// What a run's lanes write to together: the spool, what the user sees, the ceilings measured so
// far. One lock guards all of it, held for the time of a write.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "runner/dispatch/progress.h"
#include "runner/dispatch/spool.h"
#include "runner/hardware/ceilings.h"
#include "runner/launch/rank_process.h"

namespace bench {

class Ledger {
 public:
  /// `launches`: processes that an earlier part of the run started.
  Ledger(const ProbeCatalogue& catalogue, Spool& spool, Progress& progress, int launches);

  void start(const PlanEntry& entry);
  /// A rank's record, as it was sent. `job`: whose samples bound what comes later.
  void keep(const Received& received);
  void keep(const Received& received, const Job& job);
  /// A record of our own. `host`: of which it speaks; this one when empty.
  void write(const std::string& job, decltype(Record::body) body, const std::string& host = "");

  /// The rank told the outcome itself.
  void finish(const Job& job, const Outcome& outcome);
  /// The rank did not, or is not believed.
  void conclude(const Job& job, const Outcome& outcome);
  /// It did not run, for a reason that is not its own; `benchctl resume` runs it.
  void put_off(const Job& job, const std::string& why, Seconds after = {});
  /// A job that had ended is not believed after all.
  void overrule(const std::string& job);
  /// A job that was planned not to run.
  void skip(const Job& job, const std::string& reason);

  std::vector<KnownLimit> limits_for(const Job& job) const;
  /// Draws and syncs where it is time to.
  void tick();
  void sync();
  /// When to call tick() again, from now.
  Seconds pace() const;
  /// A number for each process that is started, from 1.
  int next_launch();

 private:
  mutable std::mutex mutex_;
  Spool& spool_;
  Progress& progress_;
  Ceilings ceilings_;
  int launches_;
};

}  // namespace bench
