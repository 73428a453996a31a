// An indexed file of records for random access. Little-endian:
//   8 bytes   "BENCHREC"
//   u32       version 1
//   u32       0
//   u64       n, the number of records
//   u64 x (n + 1)   where each record begins in the file, and where the last one ends
//   then the records, each: i64 label, payload
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probes/data/formats/tar_members.h"  // ReadAt

namespace bench::data {

inline constexpr std::uint64_t kRecordLabelBytes = 8;

/// The offsets of the records, and the end of the last one. Throws Error(input) with `path`, offset
/// and value for another magic or version, and for an index that is outside the file or out of
/// order.
std::vector<std::uint64_t> record_index(const ReadAt& read, std::uint64_t size,
                                        const std::string& path);

/// Header and index for payloads of these sizes.
std::vector<std::byte> record_head(std::span<const std::uint64_t> payload_bytes);

}  // namespace bench::data
