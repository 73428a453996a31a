// Builds log lines for tests.
#pragma once

#include <cstdint>
#include <string>

namespace bench::mlperf {

/// ":::MLLOG {...}" without a line end; `value` and `metadata` are JSON.
inline std::string log_line(const std::string& key, const std::string& value = "null",
                            const std::string& metadata = "{}",
                            std::int64_t time_ms = 1'700'000'000'000) {
  return R"(:::MLLOG {"namespace": "", "time_ms": )" + std::to_string(time_ms) +
         R"(, "event_type": "POINT_IN_TIME", "key": ")" + key + R"(", "value": )" + value +
         R"(, "metadata": )" + metadata + "}";
}

}  // namespace bench::mlperf
