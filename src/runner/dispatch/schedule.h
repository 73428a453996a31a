// Which job may run now: a host serves one job at a time, and its jobs in the order of the plan,
// because later ones are judged by what earlier ones measured. Jobs on other hosts do not wait.
// Knows nothing of processes or time; calls come from one thread at a time.
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
  /// The entries that are going to run; positions in `entries` name them from here on. The entries
  /// must outlive this.
  explicit Schedule(const std::vector<PlanEntry>& entries);

  /// The first job whose hosts are all free, with its hosts now taken; nothing when each must wait.
  std::optional<std::size_t> take();
  /// `done` has ended. The next job of exactly its hosts, when the same process can serve it; its
  /// hosts stay taken. Nothing: end the process, then free() them.
  std::optional<std::size_t> follow(std::size_t done);
  void free(std::size_t done);

  /// Whether a host of this running job has another one waiting.
  bool is_awaited(std::size_t running) const;

  /// Every job has been taken.
  bool empty() const { return left_ == 0; }
  /// Jobs that nobody took, for instance after an interruption.
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
