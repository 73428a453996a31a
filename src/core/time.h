// Points in time: nanoseconds since 1970 UTC, as text by RFC 3339.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

/// "2026-11-20T18:30:05Z" for nanoseconds since 1970, and back (throws Error(input)).
std::string format_time(std::int64_t time_ns);
/// "20261120T183005Z": ids of runs begin so.
std::string compact_time(std::int64_t time_ns);
std::int64_t parse_time(std::string_view text);
/// Nanoseconds since 1970, UTC.
std::int64_t now_ns();

}  // namespace bench
