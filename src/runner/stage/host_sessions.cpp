#include "runner/stage/host_sessions.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sstream>

#include "core/error.h"
#include "core/text.h"
#include "runner/launch/process.h"
#include "runner/launch/program_output.h"
#include "runner/launch/rank_process.h"
#include "runner/launch/srun.h"

namespace bench {

std::vector<std::string> script_command(std::string script, const std::string& name,
                                        const std::vector<std::string>& arguments, bool shell) {
  std::ranges::replace(script, '\n', ' ');
  std::vector<std::string> words = {"sh", "-c", std::move(script), name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (shell)
    for (std::string& word : words) word = shell_quoted(word);
  return words;
}

HostSession session_on(const Place& place, const Reach& reach,
                       const std::function<std::vector<std::string>(bool shell)>& command) {
  HostSession session;
  session.host = place.host;
  session.argv = reach.words(place);
  const bool shell = reach.shell && !session.argv.empty();
  for (std::string& word : command(shell)) session.argv.push_back(std::move(word));
  return session;
}

namespace {

constexpr std::size_t kAtOnce = 32;
constexpr std::size_t kMostOutput = 64u << 10;
constexpr std::size_t kWrite = 1u << 20;

struct Running {
  HostSession* session = nullptr;
  std::unique_ptr<Process> process;
  std::string_view left;  // of the payload
  bool asked = false;
  Clock::time_point deadline;
};

/// True if something was read.
bool listen(Running& one) {
  const std::size_t before = one.session->output.size() + one.session->error.size();
  read_some(one.process->output, one.session->output, kMostOutput);
  read_some(one.process->error, one.session->error, kMostOutput);
  return one.session->output.size() + one.session->error.size() > before;
}

/// True if something was written.
bool feed(Running& one, std::string_view payload) {
  if (!one.asked && one.session->has("need")) one.asked = true, one.left = payload;
  if (!one.asked || !one.process->input.valid()) return false;
  bool any = false;
  while (!one.left.empty()) {
    const ssize_t sent =
        write(one.process->input.get(), one.left.data(), std::min(one.left.size(), kWrite));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return any;
    if (sent <= 0) break;  // it stopped reading: its exit tells why
    one.left.remove_prefix(static_cast<std::size_t>(sent));
    any = true;
  }
  one.process->input.close();
  return any;
}

void conclude(Running& one) {
  listen(one);
  const Exit exit = one.process->reap();
  listen(one);
  one.process.reset();
  if (exit.clean()) return;
  const auto own = one.session->lines_after("trouble");
  const std::string words = own.empty() ? last_line(one.session->error) : printable(own.back());
  one.session->trouble = words.empty() ? "ended with " + exit.text() : words;
}

/// False after its end.
bool advance(Running& one, std::string_view payload, Seconds patience) {
  if (one.process->ended()) {
    conclude(one);
    return false;
  }
  const bool received = listen(one), fed = feed(one, payload);
  if (received || fed) one.deadline = after(patience);
  if (Clock::now() < one.deadline) return true;
  one.session->trouble = fmt::format("no response for {:g} s", patience.value);
  one.process.reset();
  return false;
}

Running begin(HostSession& session, bool has_payload, Seconds patience) {
  Running one;
  one.session = &session;
  one.deadline = after(patience);
  try {
    Command command;
    command.argv = session.argv;
    command.unset = step_variables();
    one.process = std::make_unique<Process>(command);
    if (!has_payload) one.process->input.close();
  } catch (const Error& error) {
    session.trouble = error.what();
  }
  return one;
}

void wait(const std::vector<Running>& running) {
  std::vector<pollfd> fds;
  for (const Running& one : running) {
    fds.push_back({one.process->output.get(), POLLIN, 0});
    fds.push_back({one.process->error.get(), POLLIN, 0});
    fds.push_back({one.process->end.get(), POLLIN, 0});
    if (!one.left.empty()) fds.push_back({one.process->input.get(), POLLOUT, 0});
  }
  poll(fds.data(), fds.size(), 50);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::vector<std::string> HostSession::lines_after(const std::string& word) const {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(output))
    if (line.starts_with(word + " ")) found.push_back(line.substr(word.size() + 1));
  return found;
}

bool HostSession::has(const std::string& line) const {
  const auto lines = lines_of(output);
  return std::ranges::find(lines, line) != lines.end();
}

void run_sessions(std::vector<HostSession>& hosts, std::string_view payload, Seconds patience,
                  const Interrupts& interrupts) {
  std::vector<Running> running;
  std::size_t next = 0;
  while (interrupts.count() == 0 && (next < hosts.size() || !running.empty())) {
    while (next < hosts.size() && running.size() < kAtOnce) {
      Running one = begin(hosts[next++], !payload.empty(), patience);
      if (one.process) running.push_back(std::move(one));
    }
    if (!running.empty()) wait(running);
    std::erase_if(running, [&](Running& one) { return !advance(one, payload, patience); });
  }
  for (const Running& one : running) one.session->trouble = "interrupted";
  for (; next < hosts.size(); ++next) hosts[next].trouble = "interrupted";
}

}  // namespace bench
