// Decides which job may run next. A host runs one job at a time, in plan order, because earlier results
// are limits for later jobs. Jobs on other hosts do not wait. Not thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/plan/planner.h"

namespace bench {

class Schedule {
 public:
  /// Schedules the entries that are not skipped; jobs are named by position in `entries`, which must
/// outlive this.
  explicit Schedule(const std::vector<PlanEntry>& entries);

  /// Takes the first job whose hosts are all free, and its hosts; empty if all jobs must wait.
  std::optional<std::size_t> take();
  /// After `done`: takes the next job on exactly its hosts if the same process can run it. Empty: end the
/// process, then call free().
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
  std::vector<std::vector<std::size_t>> hosts_of_;  // of each entry, as positions in queues_
  std::vector<HostQueue> queues_;
  std::set<std::size_t> ready_;
  std::vector<bool> taken_;
  std::size_t left_ = 0;
};

}  // namespace bench
