// Installed files, located relative to the executable, so that a build tree, an unpacked bundle and
// an installation all work; never by build-time paths.
#pragma once

#include <filesystem>
#include <string>

namespace bench {

/// The folder that holds schemas/ and suites/. Throws Error(environment) if there is none.
std::filesystem::path data_root();
std::filesystem::path schema_path(const std::string& name);  // "suite" -> .../schemas/suite.json
/// The folder of the running executable.
std::filesystem::path program_folder();

}  // namespace bench
