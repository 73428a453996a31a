// The limits of a loader on this host, each measured separately.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/data/loader/data_loader_series.h"
#include "probes/data/loader/rates.h"

namespace bench::data {

/// 0, 1, 2, 4, ... and `cores`.
std::vector<int> worker_counts(int cores);

struct SweepPoint {
  int workers = 0;
  double samples_per_second = 0.0;
};

/// The smallest number of workers that reaches 95 % of the fastest; nothing without points.
std::optional<SweepPoint> recommended(const std::vector<SweepPoint>& points);

/// Workers needed for `samples_per_second` at `cpu_s` per sample, with a reserve of a fifth.
int workers_needed(double samples_per_second, double cpu_s);

struct LoaderLimit {
  std::string name;  // "storage", "workers", "cpu", "memory", "host_to_device"
  double samples_per_second = 0.0;
  std::string source;  // how it was derived
  std::string remedy;  // how to raise it
};

/// The inputs of the limits; unknown ones are absent.
struct LimitInputs {
  std::optional<double> storage_bytes_per_second =
      {};  // cold, in the same order by the same threads
  std::optional<double> memory_bytes_per_second = {};    // of copies; reads and writes both count
  std::optional<double> transfer_bytes_per_second = {};  // host to device
  double read_bytes = 0.0;                               // of a sample
  double touched_bytes = 0.0;                            // of a sample, in memory
  double sample_bytes = 0.0;                             // in a batch
  double cpu_s = 0.0;                                    // of a sample, all stages
  double workers = 1.0;                                  // threads that make batches
  double cores = 1.0;                                    // that this process may use
};

/// In ascending order: the first one is binding. "workers" is the limit of the current workers and
/// is absent if there are as many as cores; "cpu" is the limit of all cores.
std::vector<LoaderLimit> loader_limits(const LimitInputs& inputs);

struct DiskRead {
  const ColdRead& cold;      // reads alone, from the disk
  bool from_memory = false;  // the loop used a data set in memory
};

/// The limits of a measured loader in ascending order. Reports each, the share of the lowest that
/// the loader reached, and the binding one in the facts: for data in memory without the disk, and
/// in addition for data that do not fit.
std::vector<LoaderLimit> write_limits(State& state, const DataLoaderSetup& setup,
                                      const LoaderOptions& options, const MeasuredLoop& loop,
                                      const DiskRead& disk, Json& facts);

}  // namespace bench::data
