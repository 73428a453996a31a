// The checkpoints of one training in a folder: one file per step and rank, on a file
// system that ranks share or on one of each host's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "probes/group.h"
#include "probes/training/checkpoint/atomic_file.h"

namespace bench::training {

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

}  // namespace bench::training
