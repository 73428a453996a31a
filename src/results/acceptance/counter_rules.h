// Rules for error counters: which fail at the first error, which may count some errors under the
// standard of their link, and which are shown only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class CounterKind {
  hard,   // fails at the first error
  doubt,  // one error makes the host inconclusive
  rate,   // the standard limits errors per bit
  shown   // not judged: no published bound, or a property of the network
};

struct CounterRule {
  std::string_view source;   // "host.infiniband"; ".health" for each GPU
  std::string_view counter;  // the column name after its device
  CounterKind kind = CounterKind::shown;
  double error_ratio = 0.0;  // errors per bit allowed by the standard; rate only
  /// Columns of bytes moved on the path: in the source ".traffic" for a GPU, in "host.network" for
  /// a NIC.
  std::vector<std::string_view> bytes = {};
  double bits_per_byte = 8.0;  // on the wire per counted byte
  /// Gauge of the link rate in bytes per second, for links that carry symbols when idle: bits then
  /// follow from time.
  std::string_view link_rate = {};
  std::string_view why = {};        // reason for the bound
  std::string_view next_step = {};  // what to do
};

/// Null for a counter that does not count errors.
const CounterRule* counter_rule(std::string_view source, std::string_view counter);

}  // namespace bench
