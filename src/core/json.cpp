#include "core/json.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/whole_file.h"

template class nlohmann::basic_json<>;

namespace bench {
namespace fs = std::filesystem;
namespace {

struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

Position position_of(std::string_view text, std::size_t byte) {
  Position at;
  for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    ++at.column;
    if (text[i] == '\n') at = {at.line + 1, 1};
  }
  return at;
}

/// The library's messages begin with "[json.exception.parse_error.101] parse error at line 1,
/// column 2: ".
std::string plain_reason(const std::string& what) {
  const auto colon = what.find(": ");
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

/// Refuses what the library would accept silently: deep nesting and a key given twice.
class Guard {
 public:
  explicit Guard(const std::string& origin) : origin_(origin) {}

  void operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= kMaxJsonDepth)
        throw Error(ErrorKind::input,
                    origin_ + ": nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
      keys_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      if (!keys_.empty()) keys_.pop_back();
    } else if (event == Event::key && !keys_.empty()) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second)
        throw Error(ErrorKind::input, origin_ + ": duplicate key '" + key + "' in an object",
                    "keep one of them");
    }
  }

 private:
  const std::string& origin_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& origin,
                const Json::parser_callback_t& also) {
  Guard guard(origin);
  const auto look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    guard(depth, event, parsed);
    return !also || also(depth, event, parsed);
  };
  try {
    return Json::parse(text.begin(), text.end(), look);
  } catch (const Json::parse_error& error) {
    const Position at = position_of(text, error.byte);
    throw Error(ErrorKind::input, origin + ":" + std::to_string(at.line) + ":" +
                                      std::to_string(at.column) +
                                      ": not valid JSON: " + plain_reason(error.what()));
  } catch (const Json::exception& error) {  // a number out of range
    throw Error(ErrorKind::input, origin + ": not valid JSON: " + plain_reason(error.what()));
  }
}

namespace {

/// No file that is read as a whole is longer; one that is would exhaust the memory.
constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{4} << 30;

[[noreturn]] void refuse_size(const fs::path& path, std::uintmax_t bytes) {
  throw Error(ErrorKind::input,
              "cannot read " + path.string() + ": " + std::to_string(bytes) + " bytes, more than " +
                  std::to_string(kMaxFileBytes),
              "check that this is the right file");
}

/// Reads to the end, which may be beyond `expected`: a spool grows while a run goes on.
std::string read_to_end(const Descriptor& file, const fs::path& path, std::size_t expected) {
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  std::string text;
  text.reserve(expected);
  for (std::string block(std::clamp(expected, kBlock, 16 * kBlock), '\0');;) {
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read " + path.string());
    if (got == 0) break;
    text.append(block, 0, static_cast<std::size_t>(got));
    if (text.size() > kMaxFileBytes) refuse_size(path, text.size());
  }
  if (text.size() < expected)
    throw Error(ErrorKind::environment,
                "cannot read " + path.string() + ": it ended after " + std::to_string(text.size()) +
                    " of " + std::to_string(expected) + " bytes",
                "another program shortened it meanwhile, or its file system lost data; rerun");
  return text;
}

/// The bytes from `from` on that the file has now; 0 for files without a size (pipes, /proc).
std::size_t bytes_left(const Descriptor& file, const fs::path& path, std::uintmax_t from) {
  struct stat about {};
  if (fstat(file.get(), &about) != 0) throw_errno("read " + path.string());
  const auto size = S_ISREG(about.st_mode) ? static_cast<std::uintmax_t>(about.st_size) : 0;
  if (size > kMaxFileBytes) refuse_size(path, size);
  return size > from ? size - from : 0;
}

}  // namespace

std::string read_file(const fs::path& path, std::uintmax_t from) try {
  const Descriptor file = open_input(path);
  const std::size_t expected = bytes_left(file, path, from);
  if (from > 0 && lseek(file.get(), static_cast<off_t>(from), SEEK_SET) < 0)
    throw_errno("read " + path.string());
  return read_to_end(file, path, expected);
} catch (const std::bad_alloc&) {
  throw Error(ErrorKind::environment, "cannot read " + path.string() + ": not enough memory",
              "free memory, or raise the limit that `ulimit -v` shows");
}

std::optional<Json> try_parse_json(std::string_view text) {
  try {
    return parse_json(text, "");
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string replace_invalid_utf8(std::string_view text) {
  return Json::parse(dump(Json(text))).get<std::string>();
}

Json read_json(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string excerpt(const Json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = dump(value);
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;  // whole characters
  return text.substr(0, end) + "...";
}

}  // namespace bench
