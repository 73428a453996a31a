// What a loader cannot pass, and which of these it meets first.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench::data {

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
