// What the text and the JSON of nccl-tests have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "results/importers/collected_series.h"
#include "results/importers/importers.h"

namespace bench {

/// One size, in or out of place.
struct NcclMeasurement {
  std::int64_t bytes = 0;
  std::string type, redop;  // redop "none" or empty: the operation has none
  std::int64_t root = -1;   // below 0: none
  bool in_place = false;
  double seconds = 0.0;
  double bus_bytes_per_s = 0.0;
  std::optional<double> wrong = {};  // elements; nothing where results were not checked
};

/// "all_reduce" of "./build/all_reduce_perf"; empty where the text is no such program.
std::string nccl_operation(std::string_view program);

Json nccl_params(const NcclMeasurement& measured, const std::string& operation);

/// Adds latency and bus bandwidth. A size of 0 moved nothing and is left out; a bus bandwidth of
/// 0 is below what the tool prints and is left out as well.
void add_nccl(const ImportedJob& job, const NcclMeasurement& measured, CollectedSeries& series);

/// Adds a rank's host to the job; "localhost" is no name.
void add_nccl_host(const std::string& host, ImportedJob& job);

void import_nccl_json(const std::string& text, const ImportedFile& file, ImportSink& sink);

}  // namespace bench
