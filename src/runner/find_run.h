// Finds a stored run by ID, ID prefix, folder, or "latest".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/// The IDs of all runs, oldest first: IDs begin with the planning time.
std::vector<std::string> all_runs(const std::filesystem::path& runs);

/// The run's folder. Throws Error(input) for no or several matches, with a suggestion.
std::filesystem::path find_run(const std::filesystem::path& runs, const std::string& name);

}  // namespace bench
