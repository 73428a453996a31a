// Points in time: nanoseconds since 1970 UTC; text in RFC 3339.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

/// "2026-11-20T18:30:05Z".
std::string format_time(std::int64_t time_ns);
/// "20261120T183005Z": the start of run IDs.
std::string compact_time(std::int64_t time_ns);
/// Throws Error(input).
std::int64_t parse_time(std::string_view text);
std::int64_t now_ns();

}  // namespace bench
