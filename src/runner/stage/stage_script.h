// The shell script that stages a bundle on a host, and its command line. The script is constant; its
// arguments are quoted for the remote shell of ssh.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// sh -c SCRIPT benchctl-stage ARGUMENTS... Quoted if `shell`: ssh joins its arguments with spaces for a
/// shell; srun passes them unchanged.
std::vector<std::string> stage_command(const std::vector<std::string>& arguments, bool shell);

// Modes of the script and its output lines. It exits with 0, or prints "trouble WHY".
/// ask PROGRAM: "program TEXT", the output of PROGRAM --version; no text if it is missing.
std::vector<std::string> ask_arguments(const std::string& program);
/// probe NEED_KIB: "usable FOLDER" or "unusable FOLDER: WHY" for each candidate; usable folders are
/// created.
std::vector<std::string> probe_arguments(std::size_t need_kib);
/// stage FOLDER SHA256: "need", then reads the bundle; "damaged" before that if the existing copy is
/// corrupt; "ready" at the end.
std::vector<std::string> stage_arguments(const std::string& folder, const std::string& sha256);
/// remove: "removed FOLDER" for each.
std::vector<std::string> remove_arguments();

/// Whether a folder is safe on a command line: "/", letters, digits and "._/+-" only.
bool is_plain_path(const std::string& path);

}  // namespace bench
