#include "probes/serving/server_events.h"

namespace bench::serving {
namespace {

/// The line that begins at `from`, without its end; moves `from` behind that. False at the end of
/// the text. A '\r' at the very end may be the first half of "\r\n": the line ends all the same.
bool next_line(std::string_view text, std::size_t& from, std::string_view& line) {
  const std::size_t end = text.find_first_of("\r\n", from);
  if (end == std::string_view::npos) return false;
  line = text.substr(from, end - from);
  from = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
  return true;
}

}  // namespace

std::vector<ServerEvent> server_events(std::string_view text) {
  constexpr std::string_view kData = "data", kByteOrderMark = "\xef\xbb\xbf";
  std::vector<ServerEvent> events;
  std::string data;
  bool has_data = false;
  std::string_view line;
  std::size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (next_line(text, at, line)) {
    if (line.empty()) {
      if (has_data) events.push_back({std::move(data), at});
      data.clear();
      has_data = false;
      continue;
    }
    const std::size_t colon = line.find(':');
    if (line.substr(0, colon) != kData) continue;
    std::string_view value =
        colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (has_data) data += '\n';
    data += value;
    has_data = true;
  }
  return events;
}

}  // namespace bench::serving
