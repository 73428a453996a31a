// Checkpoints that are written while training goes on: what training still waits for.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "core/names.h"
#include "core/units.h"
#include "probes/state.h"
#include "probes/storage/aligned_buffer.h"
#include "probes/storage/checkpoint_round.h"
#include "probes/storage/checkpoint_series.h"

namespace bench::storage {

// A checkpoint that training waits for only while its state is copied: the copy is written by a
// thread of its own meanwhile. A second one has to wait until the first is written: back-pressure.

/// Every rank calls every function, in the same order.
class AsyncCheckpoint {
 public:
  /// Of `state`, which is borrowed; allocates as much again. Throws Error(environment).
  AsyncCheckpoint(Group& group, const CheckpointStore& store, const CheckpointSetting& setting,
                  std::span<const std::byte> state);
  ~AsyncCheckpoint();
  AsyncCheckpoint(const AsyncCheckpoint&) = delete;
  AsyncCheckpoint& operator=(const AsyncCheckpoint&) = delete;

  struct Saved {
    Seconds stall;                  // all that training waited; the slowest rank's
    Seconds back_pressure;          // of it, for the checkpoint before
    std::optional<Seconds> former;  // how long that one took to write, where it was waited for
  };
  /// Copies the state and begins to write it.
  Saved save(std::int64_t step);

  /// At the end of a step: makes a checkpoint count that all ranks have written. What it took from
  /// the end of the copy until then, once; nothing otherwise.
  std::optional<Seconds> poll();
  /// Waits for it; nothing where none is being written.
  std::optional<Seconds> finish();

  bool writing() const { return thread_.joinable(); }

 private:
  Seconds commit();
  void stage();
  void drain();

  Group& group_;
  const CheckpointStore& store_;
  CheckpointSetting setting_;
  std::span<const std::byte> state_;
  AlignedBuffer staging_;
  std::int64_t step_ = 0;
  std::int64_t whole_ = -1;  // the last one that counts; those before are removed
  Seconds begun_ = {};
  WrittenShard shard_ = {};
  std::exception_ptr failure_ = {};
  std::atomic<bool> done_ = false;
  std::thread thread_ = {};
};

// A step of training for those who have none at hand: a time to wait, as a host does whose
// accelerator is at work, or a fixed amount of work on memory, which suffers when others use the
// host.

enum class StepKind { sleep, work };
inline constexpr NameTable<StepKind, 2> kStepKinds{
    {{{StepKind::sleep, "sleep"}, {StepKind::work, "work"}}}};

class EmulatedStep {
 public:
  /// Of about this length; finds out how much work that is.
  EmulatedStep(StepKind kind, Seconds length);
  /// How long it took.
  Seconds run();

 private:
  void pass();

  StepKind kind_;
  Seconds length_;
  std::int64_t passes_ = 1;
  std::vector<double> memory_ = {};
};

// Steps with checkpoints between them: what saving costs a training that goes on meanwhile.

struct AsyncTimes {
  // One value a checkpoint, the slowest rank's, seconds.
  std::vector<double> stall = {};  // the copy, the wait for the one before, and making it count
  std::vector<double> back_pressure = {};  // part of the stall
  std::vector<double> drain = {};          // from the end of the copy until the checkpoint counts
  // One value a step, the slowest rank's, seconds.
  std::vector<double> quiet_steps = {};     // while nothing was written
  std::vector<double> draining_steps = {};  // during all of which something was
  double total = 0.0;                       // of all steps and stalls

  /// How much longer a step takes while a checkpoint is written: 0.1 is a tenth; NaN where either
  /// kind of step is missing.
  double inflation() const;
  /// Share of the time that checkpoints cost: stalls, and what they make steps longer; NaN as
  /// above.
  double overhead() const;
};

/// `checkpoints` times `steps` steps and a save; after the last one, steps until it counts. First
/// as many steps without any, for comparison. Every rank calls it.
AsyncTimes train_and_save(Group& group, AsyncCheckpoint& checkpoint, EmulatedStep& step,
                          int checkpoints, int steps);

}  // namespace bench::storage

namespace bench {

/// Measures and writes the series of one kind. `to_whole`: how many times the bytes that are
/// written a whole model has, for the interval.
void measure_async(State& state, const CheckpointKind& kind, const storage::CheckpointStore& store,
                   const storage::CheckpointSetting& setting, double to_whole);

}  // namespace bench
