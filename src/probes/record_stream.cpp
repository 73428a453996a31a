#include "probes/record_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/wire.h"
#include "probes/facts/system_files.h"

namespace bench {

RecordStream::RecordStream() : host_(host_name()) {
  file_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (file_ < 0) throw_errno("keep a copy of stdout");
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) throw_errno("point stdout at stderr");
}

RecordStream::~RecordStream() {
  if (file_ >= 0) close(file_);
}

void RecordStream::write(Record record) {
  record.host = host_;
  const std::string line = frame(record);
  if (!write_all(file_, line)) throw_errno("write a record");
}

}  // namespace bench
