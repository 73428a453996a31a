// Files that are written whole: pages, logs, packets.
#pragma once

#include <filesystem>
#include <string_view>

namespace bench {

/// Makes the folder it lies in where there is none, and replaces what is there. Throws
/// Error(environment) naming the file.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace bench
