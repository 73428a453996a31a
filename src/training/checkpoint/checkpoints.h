// Saves and loads a training's state, so that it resumes bit for bit as if it had not stopped:
// parameters, the optimizer's state, the number of steps done, and what callers add. Random numbers
// need nothing: they are functions of the seed and the numbers of samples.
//
// Rank 0 saves what all ranks have alike, each rank what it alone has (its shard of the optimizer,
// its tables). A file is there whole or not at all, and a checkpoint counts once every rank has its
// file: a process that is killed while saving loses nothing but that save.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "core/units.h"
#include "devices/group.h"
#include "training/checkpoint/atomic_file.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/parallel/data_parallel.h"

namespace bench::training {

// The checkpoints of one training in a folder: one file per step and rank, on a file
// system that ranks share or on one of each host's own.

class CheckpointFolder {
 public:
  /// Makes the folder where there is none. Throws Error(environment).
  CheckpointFolder(std::filesystem::path folder, int rank, int ranks);

  /// "step-000000001000.rank-0-of-2.ckpt"
  std::filesystem::path file(std::int64_t step) const;
  /// Of which this rank has a whole file, ascending.
  std::vector<std::int64_t> steps() const;
  /// Those of which every rank has one; all ranks call it and get the same.
  std::vector<std::int64_t> common_steps(Group& group) const;
  /// Removes this rank's files but those of the `keep` newest steps up to `newest`: older ones,
  /// those of a training that was given up for an older step, and unfinished ones.
  void prune(std::int64_t newest, int keep, const FileObserver& observer) const;
  /// Other numbers of ranks with which checkpoints here were saved.
  std::vector<int> other_sizes() const;

  const std::filesystem::path& path() const { return folder_; }

 private:
  std::filesystem::path folder_;
  int rank_;
  int ranks_;
};

struct CheckpointOptions {
  std::filesystem::path folder = {};
  int keep = 2;  // newest checkpoints that stay
  FileObserver observer = {};
};

class Checkpoints {
 public:
  /// What must match to resume, in addition to ranks, shapes and sharding: {"workload":
  /// "llm", "preset": "tiny", "seed": 1, ...}. `training` must outlive this.
  Checkpoints(DataParallel& training, Json identity, CheckpointOptions options);

  /// More state of this rank alone, in host memory, of which views, names and shapes do not change.
  /// Names must not begin with "parameter/" or "optimizer/".
  void add(std::vector<NamedView> sections);

  struct Done {
    std::int64_t step = 0;  // steps done
    Bytes bytes;            // of all ranks together
    Seconds seconds;        // of the slowest rank
    Json notes = {};
  };
  /// Every rank calls it, after the same step. `notes` is any JSON object of the caller's
  /// (averages, the curve so far), given back by load() to the same rank. Throws on all ranks where
  /// one cannot.
  Done save(const Json& notes = Json::object());
  /// Goes on from the newest checkpoint that all ranks have; nothing where there is none. Throws
  /// Error(input) on all ranks where one of them finds a file damaged or of another training,
  /// naming the file; the state is then undefined.
  std::optional<Done> load();

 private:
  std::vector<NamedView> shared() const;
  std::vector<NamedView> own() const;
  void add_optimizer(std::vector<NamedView>& sections) const;
  Json meta(const Json& notes) const;
  void check(const Json& meta, const std::string& file) const;
  Json read(std::int64_t step, double& bytes);
  void spread_shared();
  void agree(const std::string& reason, ErrorKind kind, const std::string& hint);
  Done finish(std::int64_t step, double bytes, Seconds begin, Json notes);

  DataParallel& training_;
  Json identity_;
  CheckpointOptions options_;
  CheckpointFolder folder_;
  std::vector<NamedView> added_ = {};
};

}  // namespace bench::training
