// A file that appears under its name complete or not at all, even if the process or machine fails:
// it is written under a temporary name, synced, and renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "core/descriptor.h"

namespace bench::training {

/// Called before each file operation with its name; tests kill the process there.
using FileObserver = std::function<void(const std::string& operation)>;

class AtomicFile {
 public:
  /// Opens `path` + `unfinished`, overwriting one left by an earlier process. Processes that may
  /// write the same file at once need different ones. All functions throw Error(environment).
  explicit AtomicFile(std::filesystem::path path, FileObserver observer = {},
                      const std::string& unfinished = kUnfinished);
  /// Removes an uncommitted file.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();

  static constexpr const char* kUnfinished = ".unfinished";

 private:
  void observe(const char* operation) const;

  std::filesystem::path path_, unfinished_;
  FileObserver observer_;
  Descriptor file_;
  bool committed_ = false;
};

}  // namespace bench::training
