// A file that others may read at any moment: replaced as a whole or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace bench {

/// Writes beside it, then renames; readable by all, as its folder allows. Throws
/// Error(environment), and then the file is as it was.
void replace_file(const std::filesystem::path& path, const std::string& text);

}  // namespace bench
