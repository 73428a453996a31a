// Reads what the kernel says about the machine in small files under /proc and /sys. The root is
// given, so that tests can hand in a machine of their own. What cannot be read is nothing, never a
// guess.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What the firmware says of itself and of the machine.
inline const std::string kDmi = "sys/class/dmi/id/";

class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// The beginning of the file without white space at the ends; `path` is relative: "proc/stat".
  std::optional<std::string> text(const std::string& path, std::size_t most = 64u << 10) const;
  /// The beginning of the file as it is.
  std::optional<std::string> bytes(const std::string& path, std::size_t most) const;
  /// The file as one whole number; nothing when it holds anything else.
  std::optional<std::int64_t> number(const std::string& path) const;
  /// A kernel list such as "0-3,8" as numbers.
  std::optional<std::vector<int>> list(const std::string& path) const;
  /// Names of the entries of a folder, sorted; empty where there is none.
  std::vector<std::string> entries(const std::string& path) const;
  bool exists(const std::string& path) const;
  /// Whether this process may open it for reading.
  bool opens(const std::string& path) const;
  /// Where links lead to, relative to the root; "" where there is nothing, or outside of it.
  std::string resolved(const std::string& path) const;

 private:
  std::filesystem::path root_;
};

/// This host's name as the kernel knows it. Throws Error(environment).
std::string host_name();

/// "0-3,8" as {0, 1, 2, 3, 8}; nothing for anything else. At most 65536 numbers.
std::optional<std::vector<int>> parse_list(std::string_view text);
/// The whole number the text is, in base 10.
std::optional<std::int64_t> parse_number(std::string_view text);
std::string_view trim(std::string_view text);
/// What stands behind the key in the first line that begins "key:", "key=" or "key ", trimmed.
std::optional<std::string> field(std::string_view text, std::string_view key);

}  // namespace bench
