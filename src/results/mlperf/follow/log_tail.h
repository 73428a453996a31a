// Reads the new bytes at the end of a growing file.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "core/descriptor.h"

namespace bench::mlperf {

class LogTail {
 public:
  /// Throws Error(environment).
  explicit LogTail(const std::filesystem::path& path);

  struct Piece {
    bool restarted = false;  // the file was truncated or replaced: discard earlier pieces
    bool all = true;    // no more bytes available now
    std::string bytes = {};
  };
  /// The bytes since the last call. Throws Error(environment).
  Piece more();

 private:
  void open();
  bool replaced() const;

  std::filesystem::path path_;
  Descriptor file_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  off_t at_ = 0;
};

}  // namespace bench::mlperf
