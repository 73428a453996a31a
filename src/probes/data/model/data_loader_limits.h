// What the loader cannot pass on this host, each limit measured by itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/data/loader/data_loader_series.h"
#include "probes/data/loader/rates.h"

namespace bench::data {

// How many workers a loader should have.

/// 0, 1, 2, 4, ... and `cores`.
std::vector<int> worker_counts(int cores);

struct SweepPoint {
  int workers = 0;
  double samples_per_second = 0.0;
};

/// The smallest number that reaches 95 % of the fastest; nothing for no points.
std::optional<SweepPoint> recommended(const std::vector<SweepPoint>& points);

/// Workers that make `samples_per_second` at so much CPU time a sample, with a fifth to spare.
int workers_needed(double samples_per_second, double cpu_s);

// What a loader cannot pass, and which of these it meets first.

struct LoaderLimit {
  std::string name;  // "storage", "workers", "cpu", "memory", "host_to_device"
  double samples_per_second = 0.0;
  std::string source;  // what it was made of
  std::string remedy;  // what would lift it
};

/// What limits are made of; nothing where it is not known.
struct LimitInputs {
  std::optional<double> storage_bytes_per_second = {};  // read cold by the same places and threads
  std::optional<double> memory_bytes_per_second = {};   // copied: read and written bytes both count
  std::optional<double> transfer_bytes_per_second = {};  // host to device
  double read_bytes = 0.0;                               // of a sample
  double touched_bytes = 0.0;                            // of a sample, in memory
  double sample_bytes = 0.0;                             // in a batch
  double cpu_s = 0.0;                                    // of a sample, all stages
  double workers = 1.0;                                  // threads that make batches
  double cores = 1.0;                                    // that this process may use
};

/// In ascending order: the first binds. Where more workers would help, "workers" stands for those
/// there are and "cpu" for all cores; with as many workers as cores only "cpu" does.
std::vector<LoaderLimit> loader_limits(const LimitInputs& inputs);

}  // namespace bench::data

namespace bench {

struct DiskRead {
  const data::ColdRead& cold;  // reading alone, from the disk
  bool from_memory = false;    // the loop was not: the data set is in memory
};

/// The limits of a loader whose loop was measured, the least first; writes each, how far the loader
/// is from the least, and what binds as facts. From memory the disk binds nothing; what would bind
/// with data that do not fit stands alongside it.
std::vector<data::LoaderLimit> write_limits(State& state, const DataLoaderSetup& setup,
                                            const data::LoaderOptions& options,
                                            const MeasuredLoop& loop, const DiskRead& disk,
                                            Json& facts);

}  // namespace bench
