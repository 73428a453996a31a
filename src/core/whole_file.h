// A file that others may read at any moment: replaced as a whole or not at all.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

// Files that are written whole: pages, logs, packets.

/// Creates the folder if needed and replaces an existing file. Throws Error(environment) naming the
/// file.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Writes and syncs a temporary file, then renames it. Readable by all unless `mode` says
/// otherwise. Throws Error(environment); the file is then unchanged.
void replace_file(const std::filesystem::path& path, const std::string& text, mode_t mode = 0644);

}  // namespace bench
