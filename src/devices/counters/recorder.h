// Reads sources when they are due and keeps what they say, in bounded memory: a recording that is
// full gives up every second row and goes on at half the rate, so that a long job is seen whole.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/units.h"
#include "devices/counters/counter_source.h"

namespace bench {

/// What one source said. Counters are kept as they were read.
struct Recording {
  std::string source;
  std::vector<CounterColumn> columns;
  Seconds period;                           // as it was in the end
  std::vector<double> times;                // seconds on the recorder's clock
  std::vector<std::vector<double>> values;  // one vector a column
  std::size_t late = 0;                     // readings more than half a period late
};

struct RecorderSettings {
  Seconds period{0.1};
  std::size_t most_rows =
      2048;  // of each source; at least 4. Keeps the record of one far below its limit
};

class Recorder {
 public:
  Recorder(CounterSources sources, const RecorderSettings& settings);

  /// When the next source is due; the first time: at once.
  double next_due() const;
  /// Reads what is due at `now`.
  void tick(double now);
  /// Reads all, so that counters say what happened to the very end.
  void tick_all(double now);

  const std::vector<Recording>& recordings() const { return recordings_; }

 private:
  void read(std::size_t index, double now);
  void thin(Recording& recording);

  CounterSources sources_;
  std::size_t most_rows_;
  std::vector<Recording> recordings_;
  std::vector<double> due_;
  std::vector<double> row_;
};

}  // namespace bench
