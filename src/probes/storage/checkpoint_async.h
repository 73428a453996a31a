// Checkpoints written in the background of a training, and the time that the training still waits.
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

/// A checkpoint that training waits for only while its state is copied; a separate thread writes
/// the copy. The next checkpoint must wait until this one is written: back-pressure. Every rank
/// calls every function, in the same order.
class AsyncCheckpoint {
 public:
  /// `state` is borrowed; allocates memory for a copy. Throws Error(environment).
  AsyncCheckpoint(Group& group, const CheckpointStore& store, const CheckpointSetting& setting,
                  std::span<const std::byte> state);
  ~AsyncCheckpoint();
  AsyncCheckpoint(const AsyncCheckpoint&) = delete;
  AsyncCheckpoint& operator=(const AsyncCheckpoint&) = delete;

  struct Saved {
    Seconds stall;                  // total wait of the training, of the slowest rank
    Seconds back_pressure;          // the part spent waiting for the previous checkpoint
    std::optional<Seconds> former;  // the write time of that checkpoint, if it was waited for
  };
  /// Copies the state and starts writing it.
  Saved save(std::int64_t step);

  /// At the end of a step: commits a checkpoint that all ranks have written and returns, once, the
  /// time from the end of the copy until then; nothing otherwise.
  std::optional<Seconds> poll();
  /// Waits for the checkpoint and commits it; nothing if none is being written.
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
  std::int64_t whole_ = -1;  // the last committed one; older ones are removed
  Seconds begun_ = {};
  WrittenShard shard_ = {};
  std::exception_ptr failure_ = {};
  std::atomic<bool> done_ = false;
  std::thread thread_ = {};
};

/// sleep: as on a host whose accelerator computes. work: a fixed amount of work on memory, which
/// other load on the host slows down.
enum class StepKind { sleep, work };
inline constexpr NameTable<StepKind, 2> kStepKinds{
    {{{StepKind::sleep, "sleep"}, {StepKind::work, "work"}}}};

/// Emulates a step of training.
class EmulatedStep {
 public:
  /// Calibrates the work to about this length.
  EmulatedStep(StepKind kind, Seconds length);
  /// Returns the time it took.
  Seconds run();

 private:
  void pass();

  StepKind kind_;
  Seconds length_;
  std::int64_t passes_ = 1;
  std::vector<double> memory_ = {};
};

/// Times of steps with checkpoints between them.
struct AsyncTimes {
  // One value per checkpoint, of the slowest rank, seconds.
  std::vector<double> stall = {};  // the copy, the wait for the previous checkpoint, and the commit
  std::vector<double> back_pressure = {};  // part of the stall
  std::vector<double> drain = {};          // from the end of the copy to the commit
  // One value per step, of the slowest rank, seconds.
  std::vector<double> quiet_steps = {};     // while nothing was written
  std::vector<double> draining_steps = {};  // during a write from start to end
  double total = 0.0;                       // of all steps and stalls

  /// Relative increase of the step time while a checkpoint is written; NaN if either kind of step
  /// is missing.
  double inflation() const;
  /// Share of the total time lost to stalls and longer steps; NaN as above.
  double overhead() const;
};

/// `checkpoints` times `steps` steps and a save; after the last save, steps until it is committed.
/// Before all this, `steps` steps without a checkpoint for comparison. Every rank calls it.
AsyncTimes train_and_save(Group& group, AsyncCheckpoint& checkpoint, EmulatedStep& step,
                          int checkpoints, int steps);

/// Measures and reports the series of one kind. `to_whole`: the size of the whole model over the
/// bytes written, for the interval.
void measure_async(State& state, const CheckpointKind& kind, const CheckpointStore& store,
                   const CheckpointSetting& setting, double to_whole);

}  // namespace bench::storage
