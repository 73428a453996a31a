// The entries of a folder, sorted by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench::data {

/// Both throw Error(environment) for a folder that cannot be read.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);
/// Regular files with one of these endings. Throws Error(input) if there are none.
std::vector<std::filesystem::path> files_ending(const std::filesystem::path& folder,
                                                const std::vector<std::string>& endings);

}  // namespace bench::data
