// Effects that make storage figures misleading, detected in the figures themselves. The result
// lists them; none is corrected.
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
/// For the warnings of a report: "cache_beneath: ...".
Json texts_of(const std::vector<Pitfall>& pitfalls);

/// memory_file_system, server_cache, zeros_take_no_space.
std::vector<Pitfall> pitfalls_of(const FileSystemFacts& facts, std::optional<bool> zeros_free);

/// cache_beneath: with nothing of the file in the page cache, later passes over it are faster than
/// the first by more than a quarter. Rates in bytes per second; NaN for none.
std::optional<Pitfall> cache_beneath(double first_pass, double later_passes);

/// burst_cliff: the last quarter of a write is slower than the first by more than a fifth, because
/// a fast cache is full or others use the storage. Bytes in slices of equal time.
std::optional<Pitfall> burst_cliff(std::span<const double> slice_bytes);

/// page_cache: less than nine tenths of the bytes read came from the device.
std::optional<Pitfall> not_from_device(double read_bytes, double device_bytes);

/// page_cache_kept: a share (0..1) of the file's pages stayed in memory after dropping them.
std::optional<Pitfall> still_resident(double share);

}  // namespace bench::storage
