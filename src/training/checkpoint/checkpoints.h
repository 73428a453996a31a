// Saves and loads a training's state, so that it resumes bit for bit as if it had not stopped:
// parameters, the optimizer's state, that of the exchange, the number of steps done, and what
// callers add. Random numbers have no state: they are functions of the seed and the numbers of
// samples.
//
// Rank 0 saves the state common to all ranks (of a divided model, the ranks of the first copy their
// parts), each rank its own (its shard of the optimizer or that of its local steps, what its
// compressed exchange has not sent, its tables). Files are written atomically, and a checkpoint is
// valid once every rank has its file: a process killed while saving loses only that checkpoint.
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

/// The checkpoints of one training in a folder: one file per step and rank, on a shared file system
/// or one local to each host.
class CheckpointFolder {
 public:
  /// Creates the folder if it is missing. Throws Error(environment).
  CheckpointFolder(std::filesystem::path folder, int rank, int ranks);

  /// "step-000000001000.rank-0-of-2.ckpt"
  std::filesystem::path file(std::int64_t step) const;
  /// Steps of which this rank has a complete file, ascending.
  std::vector<std::int64_t> steps() const;
  /// Steps of which every rank has one. Call on every rank; all get the same result.
  std::vector<std::int64_t> common_steps(Group& group) const;
  /// Removes this rank's files except those of the `keep` newest steps up to `newest`: older files,
  /// those of an abandoned later part of the training, and unfinished ones.
  void prune(std::int64_t newest, int keep, const FileObserver& observer) const;
  /// Other numbers of ranks that saved checkpoints in this folder.
  std::vector<int> other_sizes() const;

  const std::filesystem::path& path() const { return folder_; }

 private:
  std::filesystem::path folder_;
  int rank_;
  int ranks_;
};

struct CheckpointOptions {
  std::filesystem::path folder = {};
  int keep = 2;  // number of newest checkpoints to keep
  FileObserver observer = {};
};

class Checkpoints {
 public:
  /// `identity` must match to resume, in addition to ranks, shapes and sharding: {"workload":
  /// "llm", "preset": "tiny", "seed": 1, ...}. `training` must outlive this.
  Checkpoints(DataParallel& training, Json identity, CheckpointOptions options);

  /// Adds state of this rank, in host memory; views, names and shapes must not change. Names must
  /// not begin with "parameter/", "optimizer/" or "exchange/".
  void add(std::vector<NamedView> sections);

  struct Done {
    std::int64_t step = 0;  // steps done
    Bytes bytes;            // of all ranks
    Seconds seconds;        // of the slowest rank
    Json notes = {};
  };
  /// Call on every rank after the same step. `notes` is any JSON object of the caller (averages,
  /// the curve so far), returned by load() on the same rank. Throws on all ranks if one fails.
  Done save(const Json& notes = Json::object());
  /// Loads the newest checkpoint that all ranks have; returns nothing if there is none. Throws
  /// Error(input) on all ranks, naming the file, if one is damaged or of another training; the
  /// state is then undefined.
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
