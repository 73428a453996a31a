// A temporary folder of a job on the storage under test; removed when the job ends.
#pragma once

#include <filesystem>
#include <string>

#include "devices/group.h"
#include "probes/storage/file_system_facts.h"

namespace bench::storage {

/// The name of this rank's host.
std::string this_host();

/// The number of ranks of the group on this rank's host. Every rank calls it.
int ranks_on_this_host(Group& group);

class WorkFolder {
 public:
  /// Creates `base` if needed, and `name` in it; several ranks may create the same folder. Throws
  /// Error(environment), also if `name` is a link or another user's.
  WorkFolder(const std::filesystem::path& base, const std::string& name);
  /// Removes the folder and its content.
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A name for this job's folders, the same on all ranks.
std::string job_token(Group& group);

/// Of the room that files need.
inline constexpr double kSpareRoom = 1.1;

/// Why files of `needed` bytes, described by `what`, do not fit in `base`; "" if they do.
std::string no_space(const std::filesystem::path& base, const FileSystemFacts& facts, double needed,
                     const std::string& what);

/// `given`, else $TMPDIR, else /var/tmp, which is on a disk even if /tmp is in memory.
std::filesystem::path folder_or_default(const std::string& given);

}  // namespace bench::storage
