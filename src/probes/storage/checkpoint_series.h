// The series of the probe `checkpoint`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "probes/state.h"
#include "probes/storage/checkpoint_round.h"
#include "probes/storage/shard_writer.h"

namespace bench::storage {

/// The checkpoint that was written, over all ranks: the basis of an extrapolation to a larger one.
struct WrittenAmount {
  double bytes = 0.0;
  Seconds duration = {};
  /// Rate of the last quarter of the bytes over that of the third quarter, of the rank where it
  /// differs most from 1; NaN if a rank wrote too few chunks.
  double late_over_before = 0.0;
  /// The largest cache that may hold the bytes: this host's memory for buffered files, and the
  /// lower caches that the user specified; 0: none is known.
  double cache_bytes = 0.0;
};

/// late_over_before of one rank.
double late_over_before(const std::vector<Progress>& progress);

/// Time to write `bytes` durably at the measured rate; or why it is not extrapolated, and what to
/// change.
struct Projection {
  std::optional<Seconds> time = {};
  std::string reason = {};
};
Projection project(const WrittenAmount& written, double bytes);

// The checkpoint interval, from the cost C of a checkpoint and the mean time M between failures.
// Young (CACM 17, 1974): sqrt(2 C M) of work between two. Daly (FGCS 22, 2006) adds terms for costs
// that are not small compared with M:
//   sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C   where C < 2 M, else M.

struct CheckpointInterval {
  Seconds young;  // of work between two checkpoints
  Seconds daly;
  /// Share of the time lost at Daly's interval, to saving, repeated work and restarts.
  double lost = 0.0;
};

/// `cost`: the time that training stops for a checkpoint; `mtbf`: mean time between failures of the
/// whole job; `restart`: until a failed job resumes, including the read of the checkpoint. The lost
/// share is of first order: C / (T + C) + (T / 2 + restart) / M, at most 1.
CheckpointInterval best_interval(Seconds cost, Seconds mtbf, Seconds restart);

/// The size of a model's checkpoint. `state` is "weights" or "full": weights, optimizer state and
/// master copies, which a training resumes from. Throws Error(input) with the nearest model name.
double checkpoint_bytes(const std::string& model, const std::string& state);

/// The common parameters of all series of one kind of checkpoint.
struct CheckpointKind {
  std::string path;  // as given: another storage is another series
  std::string model, state;
  double scale = 1.0;
  Access access = Access::direct;
  std::string mode;  // "sync", "async"

  Json params() const;
};

/// Samples::over for times of the slowest rank.
std::string over_ranks(State& state);

/// Repeats of one kind.
struct CheckpointRounds {
  std::vector<WrittenCheckpoint> written = {};
  std::vector<ReadCheckpoint> read = {};
  Conditions writing = {}, reading = {};  // of each
  double cache_bytes = 0.0;               // caches that may hold the bytes, over all hosts
};

void write_rounds(State& state, const CheckpointKind& kind, const CheckpointRounds& rounds);

/// One series, the number of corrupt chunks; the outcome contains the first fault.
void write_faults(State& state, const CheckpointKind& kind,
                  const std::vector<ReadCheckpoint>& read);

/// Extrapolated times of whole checkpoints: of the requested model, and of the 70B model's weights
/// and full state, for which a minute is the target.
void write_projections(State& state, const CheckpointKind& kind, const CheckpointRounds& rounds);

/// The intervals by Young and Daly, if the job's time between failures was given; `cost` is that of
/// a checkpoint of the whole model, `least` the shortest possible interval.
void write_interval(State& state, const Conditions& conditions, const CheckpointKind& kind,
                    Seconds cost, Seconds least);

/// The time of a checkpoint of `bytes`, extrapolated if possible.
Projection projected(State& state, const CheckpointRounds& rounds, double bytes);

}  // namespace bench::storage
