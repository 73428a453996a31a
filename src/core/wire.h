// Format of a record on the stdout of a rank: one line with marker, checksum and JSON.
//   #bench1 5f3b1c20 {"job":"gemm-1",...}
// Launchers and libraries print to the same pipe: lines without the marker go to the log; a line
// with the marker and a wrong checksum fails the job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/record.h"

namespace bench {

inline constexpr std::string_view kWireMarker = "#bench1 ";
/// A rank that prints a longer line is ended.
inline constexpr std::size_t kMaxLineBytes = 16u << 20;

/// CRC-32 (zlib) of the text.
std::uint32_t checksum(std::string_view text);

/// The line of a record, with newline.
std::string frame(const Record& record);

/// Nothing for other lines; throws Error(input) for damaged records.
std::optional<Record> unframe(std::string_view line);

}  // namespace bench
