// Scores of MLPerf Storage workloads, as its report generator computes them: means over the
// measured runs. Rates are GiB/s, whatever the files call them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mlperf/storage/storage_subject.h"

namespace bench::mlperf::storage {

/// One figure of a workload.
struct StorageFigure {
  std::string name;  // "read", "write", "option 1 read", "queries"
  double value = 0.0;
  std::string unit;  // "GiB/s", "queries/s", "samples/s", "%", "s", "ms", ""
  bool headline = false;
  /// What `value` is the mean of, by run or trial; only itself for what was measured once.
  std::vector<double> values = {};
};

struct StorageScore {
  std::vector<StorageFigure> figures = {};
  std::string problem = {};  // why there is no headline
  std::string partial = {};  // why figures are those of a part
  std::string runs = {};     // which runs count: "5 of 6: the first one warms up"
  std::optional<double> hosts = {}, accelerators = {};
  std::string accelerator = {};                        // of a training: "b200"; "" if unknown
  std::optional<double> vectors = {}, dimension = {};  // of a vector database
  /// When the runs began that count, since 1970 in the client's time zone; 0 if unknown.
  std::vector<std::int64_t> begins_s = {};
};

/// training: the mean over runs after the first of train_io_mean_MB_per_second / 1024.
/// checkpointing: the mean rates that each invocation gives, of rank 0.
/// kv_cache: for each option the sum over ranks, averaged over trials, of the newest run without
/// failures, else of the newest.
/// vector_database: the mean over runs; published tables show the first run alone.
StorageScore score_of(const Subject& subject);

}  // namespace bench::mlperf::storage
