// Parses a log while it is being written, from pieces that may end anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "results/mlperf/log/log.h"

namespace bench::mlperf {

class GrowingLog {
 public:
  /// Adds the next bytes of the file. A line counts once its LF or CR has arrived.
  void feed(std::string_view bytes);
  /// Marks the end of the file; an unterminated last line counts.
  void finish();

  /// Like read_log(), without the digest and the texts of lines.
  const Log& log() const { return log_; }
  /// True if the last line is incomplete.
  bool torn() const { return !rest_.empty(); }

 private:
  void take_line(std::string_view line);

  Log log_;
  std::string rest_;                 // the incomplete last line
  std::int64_t physical_bytes_ = 0;  // bytes of the counted line before `rest_`
};

}  // namespace bench::mlperf
