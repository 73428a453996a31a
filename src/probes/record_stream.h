// A rank's private line to the dispatcher. It keeps a copy of the original stdout for records and
// points fd 1 at stderr, so that whatever libraries print cannot end up between two records.
#pragma once

#include <string>

#include "probes/state.h"

namespace bench {

class RecordStream final : public RecordSink {
 public:
  /// Takes stdout over. Throws Error(environment) when it cannot.
  RecordStream();
  ~RecordStream() override;
  RecordStream(const RecordStream&) = delete;
  RecordStream& operator=(const RecordStream&) = delete;

  /// Writes the framed record at once, with this host's name. Throws Error(environment) when the
  /// reader is gone.
  void write(Record record) override;

 private:
  int file_ = -1;
  std::string host_;
};

}  // namespace bench
