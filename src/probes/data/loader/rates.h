// The rates of a loader's components alone.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/units.h"
#include "devices/copies.h"
#include "probes/data/loader/loader.h"
#include "probes/work_watch.h"

namespace bench::data {

struct ColdRead {
  std::optional<double> bytes_per_second = {};  // as requested by the pipeline
  double samples_per_second = 0.0;
  double resident_share = 0.0;              // of the files, after they were evicted
  std::optional<double> device_bytes = {};  // read by the disk according to the kernel
  double bytes = 0.0;
  std::string reason = {};     // why there is no rate
  Conditions conditions = {};  // set by the caller
};

/// Drops the data set from memory and returns the share that stayed.
double drop_from_memory(const Pipeline& pipeline);

/// Whether a data set is less than a quarter of this host's memory.
bool fits_in_memory(const Pipeline& pipeline);
/// Reads each sample once, on this thread.
void read_all(const Pipeline& pipeline);

/// Drops the files from memory and reads samples in the order of an epoch, on as many threads as
/// the loader has workers (one without), each sample once, for at most `most_time`. Makes no
/// batches.
ColdRead read_cold(const Pipeline& pipeline, const LoaderOptions& options, Seconds most_time);

/// Times of some copies of a batch to a device, with nothing else running, in seconds.
std::vector<double> transfer_times(Uploads& uploads, std::span<const std::byte> batch);

/// Bytes per second that so many threads copy in memory, past all caches; reads and writes both
/// count.
double copy_rate(int threads, const std::vector<int>& cpus);

}  // namespace bench::data
