// What the probe `checkpoint` writes of checkpoints that ranks have written and read.
#pragma once

#include <string>
#include <vector>

#include "probes/state.h"
#include "probes/storage/checkpoint_round.h"
#include "probes/storage/projection.h"

namespace bench {

/// What all series of one kind of checkpoint have in common.
struct CheckpointKind {
  std::string path;  // as it was given: another storage is another series
  std::string model, state;
  double scale = 1.0;
  storage::Access access = storage::Access::direct;
  std::string mode;  // "sync", "async"

  Json params() const;
};

/// What Samples::over is of times of the slowest rank.
std::string over_ranks(State& state);

/// Repeats of one kind.
struct CheckpointRounds {
  std::vector<storage::WrittenCheckpoint> written = {};
  std::vector<storage::ReadCheckpoint> read = {};
  double cache_bytes = 0.0;  // what may have taken the bytes in, over all hosts
};

void write_rounds(State& state, const CheckpointKind& kind, const CheckpointRounds& rounds);

/// One series, of the chunks that came back wrong; the first faults are told in the outcome.
void write_faults(State& state, const CheckpointKind& kind,
                  const std::vector<storage::ReadCheckpoint>& read);

/// Times of whole checkpoints, by what was written: of the model asked for, and of the 70B model's
/// weights and full state, for which a minute is the target.
void write_projections(State& state, const CheckpointKind& kind, const CheckpointRounds& rounds);

/// How often to save by Young and Daly, where the job's time between failures was given; `cost` is
/// that of a checkpoint of the whole model, `least` the shortest time between two.
void write_interval(State& state, const CheckpointKind& kind, Seconds cost, Seconds least);

/// The time of the whole model's checkpoint; nothing where that cannot be said.
storage::Projection projected(State& state, const CheckpointRounds& rounds, double bytes);

}  // namespace bench
