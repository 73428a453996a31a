#include "probes/backends/tcp/receive_line.h"

#include <array>
#include <cstddef>

#include "probes/backends/tcp/greeting.h"
#include "probes/backends/tcp/tcp_socket.h"

namespace bench {

bool receive_line(const Descriptor& socket, std::string& heard, bool& over) {
  std::array<std::byte, 1> some;
  std::ptrdiff_t got = 0;
  while (!heard.ends_with('\n') && heard.size() < kMaxHandshake) {
    got = receive_some(socket, some);
    if (got <= 0) break;
    heard += static_cast<char>(some[0]);
  }
  if (heard.ends_with('\n')) return true;
  over = got < 0 || heard.size() >= kMaxHandshake;
  return false;
}

std::string without_newline(const std::string& line) { return line.substr(0, line.find('\n')); }

}  // namespace bench
