// Steps with checkpoints between them: what saving costs a training that goes on meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/storage/async_checkpoint.h"
#include "probes/storage/emulated_step.h"

namespace bench::storage {

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
