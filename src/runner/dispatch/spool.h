// The file of a run's records, one JSON document per line, from which all results are derived. Each
// record is written before it is processed, so that it survives a crash of benchctl.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/descriptor.h"
#include "core/record.h"

namespace bench {

class Spool {
 public:
  /// Creates the file, which must not exist. Throws Error(environment).
  explicit Spool(const std::filesystem::path& path);
  /// Opens an existing file to resume a run. Throws if another benchctl has it open.
  static Spool append_to(const std::filesystem::path& path);

  /// Writes one line. Throws Error(environment) if it cannot be written completely; the file then ends
/// with the last complete line.
  void append(const std::string& json);
  void append(const Record& record);
  /// Syncs to disk at most once a second, which limits the loss in a machine crash.
  void sync_now_and_then();
  void sync();
  bool unsynced() const { return unsynced_; }

 private:
  Spool(const std::filesystem::path& path, int flags);

  std::filesystem::path path_;
  Descriptor file_;
  bool unsynced_ = false;
  std::chrono::steady_clock::time_point synced_;
};

}  // namespace bench
