// Files written as a whole.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

/// Creates the folder if needed and replaces an existing file; not atomic. Throws
/// Error(environment) naming the file.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Replaces a file atomically, for concurrent readers: writes and syncs a temporary file, then
/// renames it. World-readable unless `mode` says otherwise. Throws Error(environment); the file is
/// then unchanged.
void replace_file(const std::filesystem::path& path, const std::string& text, mode_t mode = 0644);

}  // namespace bench
