// How a record travels on a rank's stdout: one line, a marker, a checksum, the JSON.
//   #bench1 5f3b1c20 {"job":"gemm-1",...}
// Launchers and libraries print on the same pipe: a line without the marker goes to the log, a line
// with the marker and a wrong checksum fails the job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/record.h"

namespace bench {

inline constexpr std::string_view kWireMarker = "#bench1 ";
/// A longer line ends the rank that printed it.
inline constexpr std::size_t kMaxLineBytes = 16u << 20;

/// CRC-32 (zlib) of the text.
std::uint32_t checksum(std::string_view text);

/// The line for a record, with its newline.
std::string frame(const Record& record);

/// Nothing for a line that is not ours; throws Error(input) for one that is ours and damaged.
std::optional<Record> unframe(std::string_view line);

}  // namespace bench
