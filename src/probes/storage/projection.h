// From a checkpoint that was written to a larger one: only where what was written says something
// about more of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "probes/storage/shard_writer.h"

namespace bench::storage {

/// What was written, over all ranks.
struct WrittenAmount {
  double bytes = 0.0;
  Seconds duration = {};
  /// Rate of the last quarter of the bytes over that of the third quarter, of the rank where it is
  /// least; NaN where a rank wrote too few chunks.
  double late_over_before = 0.0;
  /// The largest cache that may have taken the bytes in: this host's memory for buffered files, and
  /// what the user says lies beneath; 0: none is known.
  double cache_bytes = 0.0;
};

/// late_over_before of one rank.
double late_over_before(const std::vector<Progress>& progress);

/// Time for `bytes` at the measured rate, durable; or why that cannot be said, and what would
/// settle it.
struct Projection {
  std::optional<Seconds> time = {};
  std::string reason = {};
};
Projection project(const WrittenAmount& written, double bytes);

}  // namespace bench::storage
