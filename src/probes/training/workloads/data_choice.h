// The data of a training: generated samples or files, and their number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bench::training {

struct DataChoice {
  std::vector<std::filesystem::path> train = {};  // empty: samples are generated
  std::vector<std::filesystem::path> evaluation = {};
  int vocabulary = 0;           // of tokens; 0: from the files
  std::int64_t table_rows = 0;  // per table of click logs; 0: from files or preset
  std::uint64_t samples = 0;    // number of distinct training samples; 0: all

  bool from_files() const { return !train.empty(); }
  /// Whether training samples repeat in epochs.
  bool is_finite() const { return from_files() || samples > 0; }
};

}  // namespace bench::training
