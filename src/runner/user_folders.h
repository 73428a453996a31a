// Folders of a user, by the XDG Base Directory Specification.
#pragma once

#include <filesystem>
#include <string>

namespace bench {

/// "" if not set.
std::string environment_variable(const char* name);

/// What `variable` names, where that is an absolute path: the rules say that others are to be
/// ignored. Else `below_home` of $HOME; "" where that is not set either.
std::filesystem::path user_folder(const char* variable, const char* below_home);

}  // namespace bench
