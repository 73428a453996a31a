// Which samples a workload is trained on and judged by, where a job names them: files instead of
// generated ones, and how many there are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bench::training {

struct DataChoice {
  std::vector<std::filesystem::path> train = {};  // none: samples are generated
  std::vector<std::filesystem::path> evaluation = {};
  int vocabulary = 0;           // of tokens; 0: what their files say
  std::int64_t table_rows = 0;  // of every table of click logs; 0: what files or preset say
  std::uint64_t samples = 0;    // so many different ones to train on; 0: all that there are

  bool from_files() const { return !train.empty(); }
  /// Whether training samples come again, epoch by epoch.
  bool is_finite() const { return from_files() || samples > 0; }
};

}  // namespace bench::training
