#include "core/descriptor.h"

#include <fcntl.h>

#include <cerrno>

#include "core/error.h"

namespace bench {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;  // the device gives no other reason
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void open_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    // open() returns the lowest free number, which is this one.
    if (open("/dev/null", O_RDONLY) != number) throw_errno("open /dev/null");
  }
}

}  // namespace bench
