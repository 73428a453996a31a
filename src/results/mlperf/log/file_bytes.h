// The content of a file, memory-mapped if possible.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace bench::mlperf {

struct FileBytes {
  std::string_view text = {};
  std::shared_ptr<const void> owner = {};  // owns the memory of `text`
};

/// Reads a pipe or device to its end. Throws Error(environment), or Error(input) for a folder.
FileBytes bytes_of_file(const std::filesystem::path& path);
FileBytes bytes_of_text(std::string_view text);  // a copy

}  // namespace bench::mlperf
