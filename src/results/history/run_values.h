// The run values of one run: what its report says, series by series, in the form that histories
// keep.
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

/// Pure. Series that are not ok, have no clean sample or belong to a search for a bad host are left
/// out. Jobs that measured one thing several times (repeats) give one value; its interval is that
/// of the single series, of six or more values that of their median, else their range.
RunValues run_values(const RunSummary& report);

}  // namespace bench
