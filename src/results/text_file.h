// Files that are written whole: pages, logs, packets.
#pragma once

#include <filesystem>
#include <string_view>

namespace bench {

/// Creates the folder if needed and replaces an existing file. Throws Error(environment) naming the
/// file.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace bench
