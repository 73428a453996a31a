// What the probe `checkpoint` writes of checkpoints that ranks have written and read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "probes/state.h"
#include "probes/storage/checkpoint_round.h"
#include "probes/storage/shard_writer.h"

namespace bench::storage {

// From a checkpoint that was written to a larger one: only where what was written says something
// about more of it.

/// What was written, over all ranks.
struct WrittenAmount {
  double bytes = 0.0;
  Seconds duration = {};
  /// Rate of the last quarter of the bytes over that of the third quarter, of the rank where it is
  /// least; NaN where a rank wrote too few chunks.
  double late_over_before = 0.0;
  /// The largest cache that may have taken the bytes in: this host's memory for buffered files, and
  /// what the user says lies beneath; 0: none is known.
  double cache_bytes = 0.0;
};

/// late_over_before of one rank.
double late_over_before(const std::vector<Progress>& progress);

/// Time for `bytes` at the measured rate, durable; or why that cannot be said, and what would
/// settle it.
struct Projection {
  std::optional<Seconds> time = {};
  std::string reason = {};
};
Projection project(const WrittenAmount& written, double bytes);

// How often to save, given what a checkpoint costs and how often something fails. Young (CACM 17,
// 1974): sqrt(2 C M) of work between two. Daly (FGCS 22, 2006) adds terms for costs that are not
// small against M:
//   sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C   where C < 2 M, else M.

struct CheckpointInterval {
  Seconds young;  // of work between two checkpoints
  Seconds daly;
  double lost =
      0.0;  // share of the time lost at Daly's: to saving, to work done again, to restarts
};

/// `cost`: what training stands still for one; `mtbf`: mean time between failures of the whole job;
/// `restart`: until a failed job goes on, reading the checkpoint back included. The lost share is
/// to first order: C / (T + C) + (T / 2 + restart) / M, at most 1.
CheckpointInterval best_interval(Seconds cost, Seconds mtbf, Seconds restart);

/// The size of a model's checkpoint. `state` is "weights" or "full": weights, optimizer state and
/// master copies, which a training resumes from. Throws Error(input) with the nearest model name.
double checkpoint_bytes(const std::string& model, const std::string& state);

}  // namespace bench::storage

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
