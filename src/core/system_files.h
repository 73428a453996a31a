// Reads the small files under /proc and /sys that describe the machine. Tests pass another root.
// What cannot be read is std::nullopt, never a guess.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The firmware's identification of itself and the machine.
inline const std::string kDmi = "sys/class/dmi/id/";

class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// The start of the file, trimmed; `path` is relative: "proc/stat".
  std::optional<std::string> text(const std::string& path, std::size_t most = 64u << 10) const;
  /// The start of the file, unchanged.
  std::optional<std::string> bytes(const std::string& path, std::size_t most) const;
  /// The file's content as one integer.
  std::optional<std::int64_t> number(const std::string& path) const;
  /// A kernel list such as "0-3,8" as numbers.
  std::optional<std::vector<int>> list(const std::string& path) const;
  /// The sorted names in a folder; empty if there is no such folder.
  std::vector<std::string> entries(const std::string& path) const;
  bool exists(const std::string& path) const;
  /// Whether this process may open it for reading.
  bool opens(const std::string& path) const;
  /// The target of links, relative to the root; "" if there is none or it is outside the root.
  std::string resolved(const std::string& path) const;

 private:
  std::filesystem::path root_;
};

/// This host's name as the kernel knows it. Throws Error(environment).
std::string host_name();

/// "0-3,8" as {0, 1, 2, 3, 8}; nothing for other text or more than 65536 numbers.
std::optional<std::vector<int>> parse_list(std::string_view text);
/// The value in the first line that begins "key:", "key=" or "key ", trimmed.
std::optional<std::string> field(std::string_view text, std::string_view key);

}  // namespace bench
