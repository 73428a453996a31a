// Something that can be asked again and again while a job runs: the host's counters, a GPU's. A
// gauge is a value of the moment (power, memory used); a counter only grows, and its differences
// are what happened in between.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/units.h"

namespace bench {

struct CounterColumn {
  enum Kind { gauge, counter };
  std::string name;  // "read_bytes"
  std::string unit;  // in base units: "byte", "second", "watt"
  Kind kind = gauge;
  double wraps_at = 0.0;  // a counter that starts over at this value; 0: not known
  /// The names of a gauge's bits, the lowest first; empty for one that is a quantity.
  std::vector<std::string> bits = {};
};

class CounterSource {
 public:
  virtual ~CounterSource() = default;
  /// What its chunk is called: "host.disk".
  virtual std::string name() const = 0;
  /// The same at every call.
  virtual std::vector<CounterColumn> columns() const = 0;
  /// Asking more often tells nothing new, or costs too much.
  virtual Seconds least_period() const { return {0.0}; }
  /// One value a column; NaN for what cannot be read just now.
  virtual void read(std::span<double> values) = 0;
};

using CounterSources = std::vector<std::unique_ptr<CounterSource>>;
/// Finds the sources of a host; they are found anew for each job.
using SourceFactory = std::function<CounterSources()>;

}  // namespace bench
