// Values of one run per series, in the form kept by histories.
#pragma once

#include <vector>

#include "results/history/history.h"

namespace bench {

struct KeyedValue {
  SeriesKey key;
  Point point;  // configuration is an index in RunValues::configurations; run is 0
};

struct RunValues {
  std::vector<KeyedValue> values;
  std::vector<Json> configurations;
};

/// Excludes series that are not ok, have no clean sample or belong to a search for a bad host.
/// Repeated jobs give one value; its interval is that of a single series, for six or more values
/// that of their median, else their range.
RunValues run_values(const RunSummary& report);

}  // namespace bench
