#include "core/system_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr int kMaxListed = 65536;

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) throw_errno("read the host's name");
  return name.data();
}

std::optional<std::vector<int>> parse_list(std::string_view text) {
  std::vector<int> numbers;
  text = trim(text);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const auto dash = part.find('-', 1);
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxListed) return {};
    for (std::int64_t number = *first; number <= *last; ++number)
      numbers.push_back(static_cast<int>(number));
    if (numbers.size() > kMaxListed) return {};
  }
  return numbers;
}

std::optional<std::string> field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key)) continue;
    std::string_view rest = line.substr(key.size());
    const auto next = rest.find_first_not_of(" \t");
    if (next == std::string_view::npos || (next == 0 && rest[0] != ':' && rest[0] != '=')) continue;
    rest.remove_prefix(next);
    if (rest[0] == ':' || rest[0] == '=') rest.remove_prefix(1);
    return std::string(trim(rest));
  }
  return {};
}

// open and read rather than a stream: a stream costs three times as much, and there are hundreds of
// these files on a large machine.
std::optional<std::string> SystemFiles::bytes(const std::string& path, std::size_t most) const {
  const int file = open((root_ / path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  std::string content;
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while (content.size() < most && (got = read(file, buffer.data(), buffer.size())) > 0)
    content.append(buffer.data(), static_cast<std::size_t>(got));
  close(file);
  if (got < 0) return {};
  return content;
}

bool SystemFiles::opens(const std::string& path) const {
  const int file = open((root_ / path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) close(file);
  return file >= 0;
}

std::optional<std::string> SystemFiles::text(const std::string& path, std::size_t most) const {
  const auto content = bytes(path, most);
  return content ? std::optional<std::string>(trim(*content)) : std::nullopt;
}

std::optional<std::int64_t> SystemFiles::number(const std::string& path) const {
  const auto content = text(path);
  return content ? parse_number(*content) : std::nullopt;
}

std::optional<std::vector<int>> SystemFiles::list(const std::string& path) const {
  const auto content = text(path);
  return content ? parse_list(*content) : std::nullopt;
}

std::vector<std::string> SystemFiles::entries(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(root_ / path, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool SystemFiles::exists(const std::string& path) const {
  std::error_code error;
  return std::filesystem::exists(root_ / path, error);
}

std::string SystemFiles::resolved(const std::string& path) const {
  std::error_code error;
  const auto root = std::filesystem::canonical(root_, error);
  if (error) return {};
  const auto target = std::filesystem::canonical(root_ / path, error);
  if (error) return {};
  const std::string relative = target.lexically_relative(root).string();
  return relative.starts_with("..") ? std::string() : relative;
}

}  // namespace bench
