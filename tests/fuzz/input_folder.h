// Files for parsers that read paths, in memory where this machine has a /dev/shm.
#pragma once

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench::fuzz {

class InputFolder {
 public:
  InputFolder() {
    const std::filesystem::path memory = "/dev/shm";
    const bool usable = std::filesystem::is_directory(memory);
    std::string name =
        ((usable ? memory : std::filesystem::temp_directory_path()) / "bench-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed for " + name);
    path_ = name;
  }
  ~InputFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Replaces the file; its folder must exist.
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::filesystem::path path = path_ / name;
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) throw std::runtime_error("cannot write " + path.string());
    const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (std::fclose(file) != 0 || !whole) throw std::runtime_error("cannot write " + path.string());
    return path;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace bench::fuzz
