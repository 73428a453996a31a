// --stage: copies a bundle (scripts/bundle) to hosts without the program, through the launcher's
// remote access, into a private folder named after its hash.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runner/launch/interrupts.h"
#include "runner/launch/program_output.h"
#include "runner/stage/host_sessions.h"

namespace bench {

// The shell script that stages a bundle on a host, and its command line. The script is constant;
// its arguments are quoted for the remote shell of ssh.

/// See script_command().
std::vector<std::string> stage_command(const std::vector<std::string>& arguments, bool shell);

// Modes of the script and its output lines. It exits with 0, or prints "trouble WHY".
/// ask PROGRAM: "program TEXT", the output of PROGRAM --version; no text if it is missing.
std::vector<std::string> ask_arguments(const std::string& program);
/// probe NEED_KIB: "usable FOLDER" or "unusable FOLDER: WHY" for each candidate; usable folders are
/// created.
std::vector<std::string> probe_arguments(std::size_t need_kib);
/// stage FOLDER SHA256: "need", then reads the bundle; "damaged" before that if the existing copy
/// is corrupt; "ready" at the end.
std::vector<std::string> stage_arguments(const std::string& folder, const std::string& sha256);
/// remove: "removed FOLDER" for each.
std::vector<std::string> remove_arguments();

/// Whether a folder is safe on a command line: "/", letters, digits and "._/+-" only.
bool is_plain_path(const std::string& path);

// What hosts answer; their output is untrusted (tests/fuzz/stage_fuzz.cpp).

/// Whether the host that was asked has this version of the program.
bool has_program(const HostSession& host, const std::string& version);
/// The folders that a probed host reports, if safe on a command line.
std::vector<std::string> usable_folders(const HostSession& host);
/// Why others are not usable, printable; each reason once.
std::string obstacles_of(const HostSession& host);
/// The first folder of the first host that all hosts have. Throws Error(environment) if there is
/// none.
std::string common_folder(const std::vector<HostSession>& hosts);

struct Staged {
  /// Folder of the programs on all hosts: ".../benchctl/bin"; "" if every host has its own.
  std::string folder;
  std::vector<std::string> copied;  // hosts that received a new copy
  /// Hosts that failed -> reason: "cannot receive the bundle: ...".
  std::map<std::string, std::string> out;
};

/// Copies nothing if `program` has `version` on every host. Otherwise all hosts get the bundle
/// under the same path, because a job has one command line; intact copies are reused. Throws
/// Error(input) for an unreadable bundle, Error(environment) if no folder is usable on all hosts.
Staged stage(const std::filesystem::path& bundle, const std::vector<Place>& places,
             const Reach& reach, const std::string& program, const std::string& version,
             const Interrupts& interrupts);

/// Removes staged bundles. Host -> removed folders, or "trouble: ...".
std::map<std::string, std::string> unstage(const std::vector<Place>& places, const Reach& reach,
                                           const Interrupts& interrupts);

}  // namespace bench
