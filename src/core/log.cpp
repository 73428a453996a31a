#include "core/log.h"

#include <unistd.h>

#include <string>

#include "core/text.h"

namespace bench {
namespace {

/// A message may quote what a rank or another program printed.
std::string visible_lines(std::string_view text) {
  std::string lines;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;) {
    lines += printable(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return lines + printable(text);
}

}  // namespace

void say(Level level, std::string_view text) {
  std::string line;
  if (level == Level::warning) line = "warning: ";
  if (level == Level::error) line = "error: ";
  line += visible_lines(text);
  line += '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace bench
