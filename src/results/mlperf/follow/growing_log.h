// A log while it is written: bytes come in pieces that end anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "results/mlperf/log/log.h"

namespace bench::mlperf {

class GrowingLog {
 public:
  /// The next bytes of the file. A line counts when its end is there: LF or CR.
  void feed(std::string_view bytes);
  /// The file ended: what has no end is a line too.
  void finish();

  /// As read_log has it, without digest and the texts of lines.
  const Log& log() const { return log_; }
  /// A line has begun whose end is not there yet.
  bool torn() const { return !rest_.empty(); }

 private:
  void take_line(std::string_view line);

  Log log_;
  std::string rest_;                 // of a line without its end
  std::int64_t physical_bytes_ = 0;  // of the counted line, before `rest_`
};

}  // namespace bench::mlperf
