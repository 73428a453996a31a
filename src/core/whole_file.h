// Files read and written as a whole (read_file() is in core/json.h).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace bench {

/// Opens a regular file to read, or a pipe that the shell passed as /dev/stdin or /dev/fd/N. Other
/// files are refused: a named pipe may never get a writer, and /dev/zero has no end. Throws
/// Error(input) for those and folders, Error(environment) for what cannot be opened.
Descriptor open_input(const std::filesystem::path& path);

/// A name from outside as the name of a file: other characters than letters, digits, '.', '_' and
/// '-' become '-', with a digest that keeps names apart. Never hidden, never "index".
std::string safe_file_name(std::string_view name);

/// Creates the folder if needed and replaces an existing file; not atomic. Throws
/// Error(environment) naming the file.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Creates a file; never replaces one, which may have been edited by hand. Throws Error(input) if
/// it exists, Error(environment) if it cannot be written; nothing is left then.
void create_file(const std::filesystem::path& path, std::string_view text);

/// Replaces a file atomically, for concurrent readers: writes and syncs a temporary file, reads it
/// back, renames it and syncs the folder. World-readable unless `mode` says otherwise. Throws
/// Error(environment); the file is then unchanged.
void replace_file(const std::filesystem::path& path, const std::string& text, mode_t mode = 0644);

/// Makes created, renamed and removed entries of a folder survive a power cut. Throws
/// Error(environment) on I/O errors; file systems that cannot sync a folder are left alone.
void sync_folder(const std::filesystem::path& folder);

}  // namespace bench
