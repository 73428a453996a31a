// A folder of a job's own on the storage that is measured; gone when the job ends.
#pragma once

#include <filesystem>
#include <string>

namespace bench::storage {

class WorkFolder {
 public:
  /// Makes `base` where there is none, and `name` in it; several ranks may make the same one.
  /// Throws Error(environment).
  WorkFolder(const std::filesystem::path& base, const std::string& name);
  /// Removes the folder with all that is in it.
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// `given`, else $TMPDIR, else /var/tmp, which lies on a disk where /tmp may be memory.
std::filesystem::path folder_or_default(const std::string& given);

}  // namespace bench::storage
