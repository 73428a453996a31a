// What counters of errors mean: which say that a part is broken when they move at all, which are
// allowed an error now and then by the standard of their link, and which judge nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class CounterKind {
  hard,   // one is too many
  doubt,  // one leaves the host open
  rate,   // a standard says how many errors a bit may come
  shown   // judges nothing: no bound is published, or it is the network's matter
};

struct CounterRule {
  std::string_view source;   // "host.infiniband"; ".health" for that of each GPU
  std::string_view counter;  // the column's name behind its device
  CounterKind kind = CounterKind::shown;
  double error_ratio = 0.0;  // errors a bit that the standard allows; rate only
  /// Columns of bytes that moved on the path; of a GPU in its source ".traffic", of a network card
  /// in "host.network".
  std::vector<std::string_view> bytes = {};
  double bits_per_byte = 8.0;  // on the wire, for a byte that is counted
  /// The gauge of bytes a second at which the link runs, busy or not: then time is what counts.
  std::string_view link_rate = {};
  std::string_view why = {};     // of the bound
  std::string_view next_step = {};  // what to do
};

/// Null for a counter that is none of errors.
const CounterRule* counter_rule(std::string_view source, std::string_view counter);

}  // namespace bench
