// Click logs as rows of 160 bytes (formats/criteo_rows.h), from Criteo's text or from files of such
// rows, as MLPerf's trainings use them (int32, little-endian). Blocks of 1024 rows are shuffled,
// not single rows: training data are shuffled beforehand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "probes/data/pipelines/pipeline.h"

namespace bench::data {

inline constexpr std::uint64_t kCriteoBlock = 1024;  // rows

struct CriteoOptions {
  bool transform = false;  // log(1 + x), categories modulo table_rows
  std::uint32_t table_rows = 1 << 20;
};

/// Reads the files once to index every 1024th line. Throws Error(input) for files without a line.
std::unique_ptr<Pipeline> criteo_text_pipeline(const std::vector<std::filesystem::path>& files,
                                               const CriteoOptions& options);

/// Throws Error(input) for a file whose size is not a multiple of 160.
std::unique_ptr<Pipeline> criteo_binary_pipeline(const std::vector<std::filesystem::path>& files,
                                                 const CriteoOptions& options);

}  // namespace bench::data
