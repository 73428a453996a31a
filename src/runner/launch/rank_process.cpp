#include "runner/launch/rank_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "core/wire.h"

namespace bench {
namespace {

// srun adds five lines when one of several ranks dies, after the rank's own message.
constexpr std::size_t kTailLines = 8;
constexpr std::size_t kTailLineBytes = 200;

// The prefix of a rank's error message; messages of launchers follow it.
constexpr std::string_view kError = "error: ";

// mpirun frames its messages with lines of dashes.
bool says_something(std::string_view line) {
  return line.find_first_not_of("-=* \t\r") != std::string_view::npos;
}

}  // namespace

RankLog::RankLog(const std::filesystem::path& path)
    : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_.valid()) throw_errno("create the log " + path.string());
}

void RankLog::add_line(std::string_view line) {
  if (says_something(line)) {
    if (error_.empty() && line.starts_with(kError)) error_ = line.substr(0, kTailLineBytes);
    tail_.emplace_back(line.substr(0, kTailLineBytes));
    if (tail_.size() > kTailLines) tail_.pop_front();
  }
  if (written_ >= kMaxBytes) return;
  std::string text(line.substr(0, kMaxBytes - written_));
  text += '\n';
  written_ += text.size();
  if (written_ >= kMaxBytes) text += "(log truncated)\n";
  // A failed write to the log must not stop a measurement: results are in the records.
  if (write(file_.get(), text.data(), text.size()) < 0) written_ = kMaxBytes;
}

std::string RankLog::stderr_tail() const {
  const bool pushed_out = !error_.empty() && std::ranges::find(tail_, error_) == tail_.end();
  std::string result = pushed_out ? printable(error_) : "";
  for (const std::string& line : tail_) result += (result.empty() ? "" : " | ") + printable(line);
  return result;
}

void LineBuffer::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    if (!dropping_) partial_.append(part);
    if (partial_.size() > longest_) {
      overflowed_ = dropping_ = true;
      std::string().swap(partial_);
    }
    if (newline == std::string_view::npos) return;
    if (!dropping_) lines_.push_back(std::exchange(partial_, {}));
    dropping_ = false;
    bytes.remove_prefix(newline + 1);
  }
}

std::optional<std::string> LineBuffer::next() {
  if (lines_.empty()) return {};
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

void LineBuffer::finish() {
  if (!partial_.empty()) lines_.push_back(std::exchange(partial_, {}));
}

namespace {

constexpr std::size_t kLongestLogLine = 64u << 10;
constexpr std::size_t kReadsAtOnce = 64;  // then check deadlines: a child may print forever

/// One read; false if no data is available, `closed` at end of file.
bool read_lines(const Descriptor& fd, LineBuffer& lines, bool& closed) {
  std::array<char, 64u << 10> bytes;
  const ssize_t got = read(fd.get(), bytes.data(), bytes.size());
  if (got > 0) lines.add({bytes.data(), static_cast<std::size_t>(got)});
  closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  return got > 0;
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 3600 * 1000));
}

/// The JSON of a line accepted by unframe(): after the marker, eight digits and a space.
std::string without_frame(const std::string& line) {
  return line.substr(line.find(kWireMarker) + kWireMarker.size() + 9);
}

}  // namespace

Clock::time_point after(Seconds time) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(time.value, 1e8)));
}

RankProcess::RankProcess(const Command& command, const std::filesystem::path& log,
                         const Interrupts& interrupts, GracePeriods grace, Signaller signaller)
    : interrupts_(interrupts),
      grace_(grace),
      log_(log),
      process_(command, std::move(signaller)),
      records_(kMaxLineBytes),
      stderr_lines_(kLongestLogLine) {}

void RankProcess::send(const std::string& line) {
  unsent_ += line + '\n';
  write_input();
}

void RankProcess::close_input() {
  closing_ = true;
  write_input();
}

void RankProcess::write_input() {
  while (!unsent_.empty() && process_.input.valid()) {
    const ssize_t sent = write(process_.input.get(), unsent_.data(), unsent_.size());
    if (sent > 0) {
      unsent_.erase(0, static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {  // it closed its input; its end is detected separately
      unsent_.clear();
      process_.input.close();
    }
  }
  if (closing_) process_.input.close();
}

RankEvent RankProcess::next(Clock::time_point deadline) {
  for (;;) {
    if (auto event = take_line()) return *event;
    if (interrupts_.count() > interrupts_reported_) {
      ++interrupts_reported_;
      return Interrupted{};
    }
    if (auto event = look_at_end()) return *event;
    const bool late = Clock::now() >= deadline;
    wait(deadline);
    read_output();
    read_error();
    write_input();
    if (!late) continue;
    if (auto event = take_line()) return *event;
    return TimeUp{};
  }
}

std::optional<RankEvent> RankProcess::take_line() {
  while (auto line = records_.next()) {
    try {
      if (auto record = unframe(*line)) return Received{std::move(*record), without_frame(*line)};
    } catch (const Error& error) {
      return Fault{fmt::format("printed garbage: {}", error.what())};
    }
    log_.add_line(*line);
  }
  if (!records_.overflowed() || overflow_reported_) return {};
  overflow_reported_ = true;
  return Fault{fmt::format("printed a line longer than {} MiB", kMaxLineBytes >> 20)};
}

std::optional<RankEvent> RankProcess::look_at_end() {
  if (gone_) return Ended{};
  if (process_.ended()) {
    if (!ended_) process_.signal(SIGKILL);  // kill its descendants; the process itself is a zombie
    if (!ended_) ended_ = Clock::now();
    // Its last output is still in the pipes; a grandchild may hold them open forever.
    const bool patient =
        Clock::now() - *ended_ < std::chrono::duration<double>(grace_.closed_output.value);
    if (patient && read_output()) return take_line();
    read_error();
    records_.finish();
    if (auto event = take_line()) return event;
    stderr_lines_.finish();
    while (auto line = stderr_lines_.next()) log_.add_line(*line);
    gone_ = true;
    return Ended{process_.reap()};
  }
  if (output_closed_ &&
      Clock::now() - *output_closed_ >= std::chrono::duration<double>(grace_.closed_output.value))
    return Fault{"closed its stdout while still running"};
  return {};
}

void RankProcess::wait(Clock::time_point deadline) {
  if (output_closed_) deadline = std::min(deadline, after(grace_.closed_output));
  if (!process_.end.valid())  // no pidfd: poll for its end
    deadline = std::min(deadline, after(Seconds{0.1}));
  // The signal pipe stays readable: poll the count after the first signal.
  const bool interrupted = interrupts_reported_ > 0;
  if (interrupted) deadline = std::min(deadline, after(Seconds{0.05}));
  std::array<pollfd, 5> fds = {pollfd{process_.output.get(), POLLIN, 0},
                               pollfd{process_.error.get(), POLLIN, 0},
                               pollfd{unsent_.empty() ? -1 : process_.input.get(), POLLOUT, 0},
                               pollfd{process_.end.get(), POLLIN, 0},
                               pollfd{interrupted ? -1 : interrupts_.fd(), POLLIN, 0}};
  if (poll(fds.data(), fds.size(), milliseconds_until(deadline)) < 0 && errno != EINTR)
    throw_errno("wait for a rank");
}

bool RankProcess::read_output() {
  bool any = false;
  bool closed = false;
  for (std::size_t i = 0; i < kReadsAtOnce && process_.output.valid(); ++i) {
    const bool got = read_lines(process_.output, records_, closed);
    any |= got;
    if (closed) {
      process_.output.close();
      output_closed_ = Clock::now();
    }
    if (!got) break;
  }
  return any;
}

void RankProcess::read_error() {
  bool closed = false;
  for (std::size_t i = 0; i < kReadsAtOnce && process_.error.valid(); ++i) {
    const bool got = read_lines(process_.error, stderr_lines_, closed);
    if (closed) process_.error.close();
    if (!got) break;
  }
  while (auto line = stderr_lines_.next()) log_.add_line(*line);
}

bool RankProcess::wait_for_end(Seconds grace, const std::function<void(const Received&)>& keep) {
  const auto deadline = after(grace);
  while (Clock::now() < deadline) {
    const RankEvent event = next(deadline);
    if (const auto* received = std::get_if<Received>(&event)) keep(*received);
    if (std::holds_alternative<Ended>(event)) return true;
    if (std::holds_alternative<Interrupted>(event)) return false;  // second Ctrl-C: stop waiting
    // Ignore the fault, but avoid a busy loop.
    if (std::holds_alternative<Fault>(event)) output_closed_.reset();
  }
  return false;
}

std::string RankProcess::stop(const GracePeriods& grace,
                              const std::function<void(const Received&)>& keep) {
  if (gone_) return "already ended";
  process_.signal(SIGTERM);
  if (wait_for_end(grace.terminate, keep)) return "ended on SIGTERM";
  process_.signal(SIGKILL);
  if (wait_for_end(grace.kill, keep)) return "ended on SIGKILL";
  gone_ = abandoned_ = true;
  return fmt::format("process {} did not end: {}", process_.pid(), process_state(process_.pid()));
}

}  // namespace bench
