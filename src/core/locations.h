// Installed files, located relative to the executable, so that a build tree, an unpacked bundle and
// an installation all work; never by build-time paths.
#pragma once

#include <filesystem>
#include <string>

namespace bench {

/// The folder that holds schemas/ and suites/; another user's is passed over, as the program may be
/// below a folder that everybody can write to. Throws Error(environment) if there is none.
std::filesystem::path data_root();
std::filesystem::path schema_path(const std::string& name);  // "suite" -> .../schemas/suite.json
/// The running executable. By this path, not by /proc/self/exe, a program starts itself again: a
/// process is named after its executable and found by name. Throws Error(environment) without
/// /proc.
std::filesystem::path program_path();
/// Its folder.
std::filesystem::path program_folder();

/// Whether the user names a file, with a '/' or ".json", not something installed: a bare name is
/// never looked up in the current folder, where another user may have put a file.
bool is_path(const std::string& name_or_path);
/// Whether a file or folder belongs to root, this user or the owner of this program, and not
/// everybody can write to it.
bool is_trusted(const std::filesystem::path& path);

}  // namespace bench
