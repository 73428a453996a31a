#include "runner/short_command.h"

#include <poll.h>
#include <unistd.h>

#include "runner/rank_process.h"

namespace bench {

void read_some(const Descriptor& fd, std::string& text, std::size_t most) {
  char bytes[4096];
  for (;;) {
    const ssize_t got = read(fd.get(), bytes, sizeof bytes);
    if (got <= 0) return;
    if (text.size() < most) text.append(bytes, static_cast<std::size_t>(got));
  }
}

Answer run_short(const std::vector<std::string>& argv, Seconds limit) {
  Process process({argv, {}});
  process.input.close();
  Answer answer;
  const auto deadline = after(limit);
  const auto read_both = [&] {
    read_some(process.output, answer.output);
    read_some(process.error, answer.error);
  };
  while (!(answer.in_time = process.ended()) && Clock::now() < deadline) {
    read_both();
    poll(nullptr, 0, 10);
  }
  if (answer.in_time) answer.exit = process.reap();
  read_both();
  return answer;
}

}  // namespace bench
