#include "core/log.h"

#include <unistd.h>

#include <string>

namespace bench {

void say(Level level, std::string_view text) {
  std::string line;
  if (level == Level::warning) line = "warning: ";
  if (level == Level::error) line = "error: ";
  line += text;
  line += '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace bench
