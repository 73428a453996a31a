// Prints the MLLOG lines of a log on stdin as Python would, one per line, separated by tabs:
// index, repr of time_ms as a float, of key, value and metadata; or index and the kind of error.
// tests/mlperf/log_peer_test.py compares that with Python.
#include <iostream>

#include "mlperf/log/log.h"

namespace {

void tell(const bench::mlperf::LogEntry& entry) {
  using bench::mlperf::PythonValue;
  std::cout << entry.index << '\t' << PythonValue(entry.time_ms).repr() << '\t'
            << PythonValue(entry.key).repr() << '\t' << entry.value.repr() << '\t'
            << entry.metadata.repr() << '\n';
}

}  // namespace

int main() {
  const bench::mlperf::Log log = bench::mlperf::read_log("/dev/stdin");
  auto invalid = log.invalid_lines.begin();
  const auto tell_troubles = [&](std::int64_t before) {
    for (; invalid != log.invalid_lines.end() && invalid->index < before; ++invalid)
      std::cout << invalid->index << '\t'
                << (invalid->kind == bench::mlperf::LineError::crash ? "crash" : "parse_error")
                << '\n';
  };
  for (const auto& entry : log.entries) {
    tell_troubles(entry.index);
    tell(entry);
  }
  tell_troubles(log.mllog_lines);
  return std::cout.flush() ? 0 : 1;
}
