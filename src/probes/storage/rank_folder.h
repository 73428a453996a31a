// A rank's own folder on the storage under test, for probes whose ranks keep to themselves.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "devices/group.h"
#include "probes/storage/file_system_facts.h"
#include "probes/storage/pitfalls.h"
#include "probes/storage/work_folder.h"

namespace bench::storage {

struct RankFolder {
  std::optional<WorkFolder> folder = {};
  FileSystemFacts file_system = {};
  std::vector<Pitfall> pitfalls = {};

  const std::filesystem::path& path() const { return folder->path(); }

  /// Creates benchctl-PROBE-TOKEN-rank-N in `base` and reads the facts. Returns on every rank why
  /// one of them cannot measure there, or "": `bytes`, of each rank's `what` ("files"), must fit.
  /// Every rank calls it.
  std::string make(Group& group, const std::filesystem::path& base, const std::string& probe,
                   double bytes, const std::string& what);
};

}  // namespace bench::storage
