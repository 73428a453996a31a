// What makes figures of a storage other than they seem, seen in the figures themselves. Each is
// named in the result; none is corrected for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "probes/storage/file_system_facts.h"

namespace bench::storage {

struct Pitfall {
  std::string name;  // memory_file_system, server_cache, zeros_take_no_space, ...
  std::string text;
};
Json to_json(const std::vector<Pitfall>& pitfalls);
/// For people, among what hurts: "cache_beneath: ...", texts alone.
Json texts_of(const std::vector<Pitfall>& pitfalls);

/// memory_file_system, server_cache, zeros_take_no_space.
std::vector<Pitfall> pitfalls_of(const FileSystemFacts& facts, std::optional<bool> zeros_free);

/// cache_beneath: with nothing of the file in the page cache, the later passes over it are faster
/// than the first by more than a quarter. Rates in bytes per second; NaN where there was none.
std::optional<Pitfall> cache_beneath(double first_pass, double later_passes);

/// burst_cliff: the last quarter of a time of writing is slower than the first by more than a
/// fifth, as where a fast cache is full, or others came. Bytes of slices of equal time.
std::optional<Pitfall> burst_cliff(std::span<const double> slice_bytes);

/// page_cache: less than nine tenths of what was read came from the device.
std::optional<Pitfall> not_from_device(double read_bytes, double device_bytes);

/// page_cache_kept: pages of the file stayed in memory though the kernel was asked to drop them;
/// `share` of 0..1.
std::optional<Pitfall> still_resident(double share);

}  // namespace bench::storage
