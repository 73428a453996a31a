// A file that others may read at any moment: replaced as a whole or not at all.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace bench {

/// Writes beside it, on the disk before it gets the name; then renames. Readable by all, as its
/// folder allows, unless `mode` says otherwise. Throws Error(environment), and then the file is as
/// it was.
void replace_file(const std::filesystem::path& path, const std::string& text, mode_t mode = 0644);

}  // namespace bench
