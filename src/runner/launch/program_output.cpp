#include "runner/launch/program_output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "core/error.h"
#include "core/text.h"
#include "runner/launch/process.h"

namespace bench {

std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\0') throw Error(ErrorKind::input, "shell argument contains a zero byte");
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

Reach reach_by_agent(const LaunchSettings& settings) {
  return {[settings](const Place& place) {
            if (place.here) return std::vector<std::string>{};
            std::vector<std::string> words = agent_command(settings);
            words.push_back(place.address);
            return words;
          },
          true};
}

Reach reach_by_step(const SlurmSite& site, StepInput input) {
  return {[site, input](const Place& place) { return step_on_host(place.host, site, input); },
          false};
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorsKept = 2000;

/// Appends available data; closes the pipe at end of file.
void drain(Descriptor& pipe, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(pipe.get(), buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) pipe.close();
}

int milliseconds_to_wait(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  // Polls: without a pidfd nothing wakes us when the program ends.
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 50));
}

}  // namespace

std::string program_output(const std::vector<std::string>& argv, Seconds within,
                           std::size_t at_most) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(within.value));
  const std::string command = join(argv, " ");
  Process process({argv, {}});
  process.input.close();
  std::string text, errors;
  while (process.output.valid() || process.error.valid() || !process.ended()) {
    if (Clock::now() >= deadline)
      throw Error(ErrorKind::environment,
                  command + ": timed out after " + format(within) + " and was killed",
                  "run it by hand to see whether it responds");
    std::array<pollfd, 3> fds = {pollfd{process.output.get(), POLLIN, 0},
                                 pollfd{process.error.get(), POLLIN, 0},
                                 pollfd{process.end.get(), POLLIN, 0}};
    poll(fds.data(), fds.size(), milliseconds_to_wait(deadline));
    if (fds[0].revents != 0) drain(process.output, text);
    if (fds[1].revents != 0) drain(process.error, errors);
    if (errors.size() > kErrorsKept) errors.erase(0, errors.size() - kErrorsKept);
    if (text.size() > at_most)
      throw Error(ErrorKind::environment,
                  command + ": printed more than " + std::to_string(at_most) + " bytes",
                  "check that this is the intended program");
  }
  while (errors.ends_with('\n')) errors.pop_back();
  if (const Exit exit = process.reap(); !exit.clean())
    throw Error(ErrorKind::environment, command + ": " + exit.text() + ": " + printable(errors),
                "run it by hand to see whether it works");
  return text;
}

}  // namespace bench
