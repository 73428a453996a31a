// Finds a run among those that are kept: by id, by the beginning of its id, by folder, or "latest".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/// The ids of all runs, oldest first: ids begin with the second in which the run was planned.
std::vector<std::string> all_runs(const std::filesystem::path& runs);

/// Its folder. Throws Error(input) for none or several, with the nearest id.
std::filesystem::path find_run(const std::filesystem::path& runs, const std::string& name);

}  // namespace bench
