// The file of a run's records, one JSON text a line: the truth everything else is derived from. A
// record is handed to the kernel before anything else happens with it, so that it outlives us.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/descriptor.h"
#include "core/record.h"

namespace bench {

class Spool {
 public:
  /// Makes the file; it must not be there yet. Throws Error(environment).
  explicit Spool(const std::filesystem::path& path);
  /// Opens a file that is there: a run that is resumed. Throws when another benchctl has it open.
  static Spool append_to(const std::filesystem::path& path);

  /// Writes one line. Throws Error(environment) when it cannot be written whole; the file then ends
  /// with the last whole line.
  void append(const std::string& json);
  void append(const Record& record);
  /// To the disk, at most once a second: a crash of the machine loses no more than that.
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
