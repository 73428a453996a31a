// What lies right in a folder, by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench::data {

/// Both throw Error(environment) for a folder that cannot be read.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);
/// Regular files whose names end so. Throws Error(input) for none.
std::vector<std::filesystem::path> files_ending(const std::filesystem::path& folder,
                                                const std::vector<std::string>& endings);

}  // namespace bench::data
