// All bytes of a file, mapped where it can be.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace bench::mlperf {

struct FileBytes {
  std::string_view text = {};
  std::shared_ptr<const void> owner = {};  // of what `text` views
};

/// A pipe or device is read to its end. Throws Error(environment), Error(input) for a folder.
FileBytes bytes_of_file(const std::filesystem::path& path);
FileBytes bytes_of_text(std::string_view text);  // a copy

}  // namespace bench::mlperf
