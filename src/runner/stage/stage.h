// --stage: copies a bundle (scripts/bundle) to hosts without the program, through the launcher's remote
// access, into a private folder named after its hash.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runner/dispatch/interrupts.h"
#include "runner/launch/reach.h"

namespace bench {

struct Staged {
  /// Folder of the programs on all hosts: ".../benchctl/bin"; "" if every host has its own.
  std::string folder;
  std::vector<std::string> copied;  // hosts that received a new copy
  /// Hosts that failed -> reason: "cannot receive the bundle: ...".
  std::map<std::string, std::string> out;
};

/// Copies nothing if `program` has `version` on every host. Otherwise all hosts get the bundle under the
/// same path, because a job has one command line; intact copies are reused. Throws Error(input) for an
/// unreadable bundle, Error(environment) if no folder is usable on all hosts.
Staged stage(const std::filesystem::path& bundle, const std::vector<Place>& places,
             const Reach& reach, const std::string& program, const std::string& version,
             const Interrupts& interrupts);

/// Removes staged bundles. Host -> removed folders, or "trouble: ...".
std::map<std::string, std::string> unstage(const std::vector<Place>& places, const Reach& reach,
                                           const Interrupts& interrupts);

}  // namespace bench
