// One rank's part of a step's traffic: runs a schedule over groups of ranks, times each group's
// calls, and verifies what arrived.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/record.h"
#include "devices/collectives.h"
#include "devices/group.h"
#include "probes/traffic/buffer_plan.h"
#include "probes/traffic/compute_stand_in.h"
#include "probes/traffic/step_schedule.h"
#include "training/kernels/kernel_set.h"
#include "training/kernels/memory.h"

namespace bench {

/// The groups of one rank. Create it on every rank.
class TrafficGroups {
 public:
  /// `all` must outlive it. Throws Error(environment) if the library cannot divide its ranks.
  TrafficGroups(Group& all, const TrafficSplit& split, const TrafficPlace& place);
  /// The rank alone where the split does not divide.
  Group& of(TrafficGroup group) const;
  GroupSizes sizes() const;

 private:
  Group& all_;
  std::array<std::unique_ptr<Group>, kTrafficGroupCount> parts_ = {};
};

/// What of a step is run.
struct TrafficSelection {
  bool computation = true;
  std::array<bool, kTrafficGroupCount> groups = {};  // whose operations

  static TrafficSelection step();
  static TrafficSelection computation_alone();
  static TrafficSelection traffic_alone();
  static TrafficSelection alone(TrafficGroup group);
  bool has(const TrafficOp& op) const {
    return op.kind == TrafficKind::compute ? computation
                                           : groups[static_cast<std::size_t>(op.group)];
  }
};

class TrafficStep {
 public:
  /// Everything must outlive it. `shared`: operations share buffers, on all ranks or on none
  /// (shares_buffers()).
  TrafficStep(const StepSchedule& schedule, const TrafficGroups& groups,
              const training::KernelSet& kernels, ComputeStandIn& computation, Dtype dtype,
              bool sums_by_library, bool shared, std::uint64_t seed);

  void run(const TrafficSelection& what);

  /// Since the last call of take_times(): seconds in calls of each group, waiting for late ranks
  /// included, and in computations.
  struct Times {
    std::array<double, kTrafficGroupCount> groups = {};
    /// Of them, those after the computations that a call overlaps.
    std::array<double, kTrafficGroupCount> exposed = {};
    double computation = 0.0;
    std::vector<double> operations = {};  // by number in operation_names()
    int steps = 0;
  };
  Times take_times();
  /// "tp all_reduce: attention output".
  const std::vector<std::string>& operation_names() const { return names_; }

  /// Overwrites the first, the middle and the last element of every output: what is not written at
  /// all is found.
  void poison();
  /// The number of wrong elements that the last run() left in its outputs.
  double wrong(const TrafficSelection& what) const;
  /// Runs once more and counts wrong elements after each operation, whose whole output is
  /// overwritten before: finds what later micro-batches overwrite. Every rank calls it.
  double wrong_in_each(const TrafficSelection& what);
  /// Outputs that are not shared, of all.
  double own_outputs() const;
  std::int64_t bytes() const;

  /// Whether sums over so many ranks are exact in the type.
  static bool exact(Dtype dtype, int ranks);

 private:
  struct Buffers {
    training::MemoryBlock in, out;
    std::vector<double> numbers = {};  // of control
  };
  void fill_inputs();
  void communicate(const TrafficOp& op);
  std::byte* parts_of(const TrafficOp& op, std::byte* row);
  void sum(const TrafficOp& op, const Buffers& buffers, Group& group);
  void gather(const TrafficOp& op, const Buffers& buffers, Group& group);
  void scatter_sum(const TrafficOp& op, const Buffers& buffers, Group& group);
  void exchange_rows(const TrafficOp& op, const Buffers& buffers, Group& group);
  void run_in_order(const TrafficSelection& what);
  void run_overlapped(const TrafficSelection& what);
  std::int64_t wrong_after(const TrafficOp& op) const;
  double value(const TrafficOp& op, int rank, std::int64_t index) const;
  double expected(const TrafficOp& op, std::int64_t index) const;
  int ranks_of(const TrafficOp& op) const { return groups_.of(op.group).size(); }
  training::View part(const training::MemoryBlock& block, std::int64_t first,
                      std::int64_t elements) const;
  Buffers& buffers(const TrafficOp& op) { return buffers_[plan_.buffer_of_slot[slot(op)]]; }
  const Buffers& buffers(const TrafficOp& op) const {
    return buffers_[plan_.buffer_of_slot[slot(op)]];
  }
  static std::size_t slot(const TrafficOp& op) { return static_cast<std::size_t>(op.slot); }
  std::int64_t bytes_of(std::int64_t elements) const;

  const StepSchedule& schedule_;
  const TrafficGroups& groups_;
  const training::KernelSet& kernels_;
  ComputeStandIn& computation_;
  Dtype dtype_;
  bool sums_by_library_;
  std::uint64_t seed_;
  BufferPlan plan_;
  std::vector<std::string> names_ = {};
  std::vector<std::size_t> name_of_slot_ = {};
  std::vector<Buffers> buffers_ = {};
  training::MemoryBlock received_ = {};  // parts of all ranks, before they are summed
  training::MemoryBlock padded_ = {};    // a bucket in equal parts
  // While operations overlap:
  std::atomic<int> computed_{0};          // the last computation that is done
  std::atomic<double> computed_at_{0.0};  // when all were; infinite before
  Times times_ = {};
};

}  // namespace bench
