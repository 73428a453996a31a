// Reads sources periodically in bounded memory: a full recording drops every second row and
// continues at half the rate, so that long jobs are covered completely.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/units.h"
#include "devices/counters/counter_source.h"

namespace bench {

/// The readings of one source; counters unchanged.
struct Recording {
  std::string source;
  std::vector<CounterColumn> columns;
  Seconds period;                           // at the end
  std::vector<double> times;                // seconds on the recorder's clock
  std::vector<std::vector<double>> values;  // one vector per column
  std::size_t late = 0;                     // readings more than half a period late
};

struct RecorderSettings {
  Seconds period{0.1};
  std::size_t most_rows = 2048;  // per source, at least 4; keeps records far below their limit
};

class Recorder {
 public:
  Recorder(CounterSources sources, const RecorderSettings& settings);

  /// When the next source is due; initially at once.
  double next_due() const;
  /// Reads all sources due at `now`.
  void tick(double now);
  /// Reads all sources, so that counters cover the job to its end.
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
