// A large file that is written part by part and appears under its name when it is complete. It
// never replaces another one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace bench::preprocessing {

class NewFile {
 public:
  /// Creates the folder if needed. Throws Error(input) if the file exists, Error(environment) if it
  /// cannot be created, as do the others.
  explicit NewFile(std::filesystem::path path);
  /// Leaves nothing of an unfinished file.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  /// Syncs the file and gives it its name.
  void finish();

 private:
  void flush();

  std::filesystem::path path_;
  std::string temporary_;
  Descriptor file_ = {};
  std::string waiting_ = {};
};

/// Throws Error(input) if there is anything under this name.
void refuse_existing(const std::filesystem::path& path);

}  // namespace bench::preprocessing
