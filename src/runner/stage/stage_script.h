// The shell script by which a bundle comes to a host, and the words that carry it there. It is one
// constant text; what varies are its arguments, which are quoted for the shell that ssh asks on the
// other side.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// sh -c SCRIPT benchctl-stage ARGUMENTS... Quoted where `shell`: ssh joins its words with blanks
/// and hands them to a shell; srun starts them as they are.
std::vector<std::string> stage_words(const std::vector<std::string>& arguments, bool shell);

// Its arguments, and what it answers line by line. It ends with 0, or says "trouble WHY".
/// ask PROGRAM: "program TEXT", what PROGRAM --version says; no text where it is missing.
std::vector<std::string> ask_arguments(const std::string& program);
/// probe NEED_KIB: "usable FOLDER" or "unusable FOLDER: WHY" for each place it knows; what is
/// usable has been made.
std::vector<std::string> probe_arguments(std::size_t need_kib);
/// stage FOLDER SHA256: "need", and it reads the bundle; or "damaged" before that, where what was
/// there was not as it had been made; "ready" at the end.
std::vector<std::string> stage_arguments(const std::string& folder, const std::string& sha256);
/// remove: "removed FOLDER" for each.
std::vector<std::string> remove_arguments();

/// Whether a folder that a host names may become a word of a command line there: "/", letters,
/// digits and "._/+-".
bool is_plain_path(const std::string& path);

}  // namespace bench
