// --stage: a bundle (scripts/bundle) is brought to the hosts of a run where the program is missing,
// through what starts the ranks there, into a private folder that executes, by the name of its
// hash.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runner/dispatch/interrupts.h"
#include "runner/launch/reach.h"

namespace bench {

struct Staged {
  /// Where the programs lie on all hosts: ".../benchctl/bin"; "" where every host has its own.
  std::string folder;
  std::vector<std::string> copied;  // hosts that got a copy now
  /// Hosts that did not get one, and why: "has no folder for the bundle: ...".
  std::map<std::string, std::string> out;
};

/// Where `program` says `version` on every host, nothing is copied. Else all of them get the
/// bundle, under one path, for a job's hosts share one command line; a copy that is there and whole
/// is used again. Throws Error(input) for a bundle that cannot be read, Error(environment) where no
/// folder serves all hosts that answer.
Staged stage(const std::filesystem::path& bundle, const std::vector<Place>& places,
             const Reach& reach, const std::string& program, const std::string& version,
             const Interrupts& interrupts);

/// Removes what stage() left. Host -> the folders that are gone, or "trouble: ...".
std::map<std::string, std::string> unstage(const std::vector<Place>& places, const Reach& reach,
                                           const Interrupts& interrupts);

}  // namespace bench
