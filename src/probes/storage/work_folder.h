// A folder of a job's own on the storage that is measured; gone when the job ends.
#pragma once

#include <filesystem>
#include <string>

#include "devices/group.h"
#include "probes/storage/file_system_facts.h"

namespace bench::storage {

// How ranks lie on hosts.

/// This rank's host as it calls itself.
std::string this_host();

/// How many ranks of the group run on this rank's host, itself among them. Every rank calls it.
int ranks_on_this_host(Group& group);

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

/// A name for this job's folders, the same on all ranks.
std::string job_token(Group& group);

/// Why files of `needed` bytes, described by `what`, do not fit in `base`; "" if they do.
std::string no_space(const std::filesystem::path& base, const FileSystemFacts& facts, double needed,
                     const std::string& what);

/// `given`, else $TMPDIR, else /var/tmp, which lies on a disk where /tmp may be memory.
std::filesystem::path folder_or_default(const std::string& given);

}  // namespace bench::storage
