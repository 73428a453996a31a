// How fast the parts that a loader stands on are by themselves.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/units.h"
#include "devices/copies.h"
#include "probes/data/loader/loader.h"

namespace bench::data {

struct ColdRead {
  std::optional<double> bytes_per_second = {};  // as asked for, of what was read
  double samples_per_second = 0.0;
  double resident_share = 0.0;              // of the files, after they were evicted
  std::optional<double> device_bytes = {};  // that the disk says it read
  double bytes = 0.0;
  std::string reason = {};  // why there is no rate
};

/// Drops the data set from memory. The share of it that stayed.
double drop_from_memory(const Pipeline& pipeline);

/// Whether a data set is less than a quarter of this host's memory.
bool fits_in_memory(const Pipeline& pipeline);
/// Reads each sample once, on this thread.
void read_all(const Pipeline& pipeline);

/// Reads samples in the order of an epoch, on as many threads as the loader has workers (one
/// without), from files that are not in memory, for at most so long and each sample once. Nothing
/// is made of them.
ColdRead read_cold(const Pipeline& pipeline, const LoaderOptions& options, Seconds most_time);

/// How long a batch needs to a device, with nothing alongside it, each of some copies, seconds.
std::vector<double> transfer_times(Uploads& uploads, std::span<const std::byte> batch);

/// Bytes that so many threads copy in memory, read and written ones both counted, past all caches.
double copy_rate(int threads, const std::vector<int>& cpus);

}  // namespace bench::data
