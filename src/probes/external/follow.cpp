#include "probes/external/follow.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/json.h"
#include "core/mllog.h"
#include "core/system_files.h"
#include "core/text.h"
#include "core/time.h"

namespace bench::external {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CommandEnd, known, signaled, code, stopped, left, stuck, cleanup)

void LineSplitter::add(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const auto end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    const std::size_t kept = std::min(part.size(), longest_ - line_.size());
    line_.append(part.substr(0, kept));
    dropped_ += part.size() - kept;
    if (end == std::string_view::npos) return;
    after_cr_ = bytes[end] == '\r';
    end_line(take);
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::finish(const Take& take) {
  if (!line_.empty()) end_line(take);
}

void LineSplitter::end_line(const Take& take) {
  take(line_, dropped_);
  line_.clear();
  dropped_ = 0;
}

namespace {

constexpr std::size_t kLastLines = 6;
constexpr std::size_t kLastLineBytes = 200;

}  // namespace

RankOutput::RankOutput(const std::filesystem::path& file, std::size_t most)
    : file_(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                 0644)),
      most_(most) {
  if (!file_.valid()) throw_errno("create the log " + file.string());
}

void RankOutput::add(std::string_view bytes, bool is_error, Seconds now) {
  (is_error ? error_ : out_).add(bytes, [&](std::string_view line, std::size_t dropped) {
    add_line(line, dropped, now);
  });
}

void RankOutput::finish(Seconds now) {
  for (LineSplitter* stream : {&out_, &error_})
    stream->finish(
        [&](std::string_view line, std::size_t dropped) { add_line(line, dropped, now); });
}

void RankOutput::add_line(std::string_view line, std::size_t dropped, Seconds now) {
  keep(line, dropped);
  lines_cut_ += dropped > 0;
  if (line.find(kMllogToken) != std::string_view::npos) {
    followed_.push_back({std::string(line), now_ns(), now});
  } else if (line.find_first_not_of(" \t-=*") != std::string_view::npos) {
    tail_.push_back(printable(line.substr(0, kLastLineBytes)));
    if (tail_.size() > kLastLines) tail_.pop_front();
  }
}

void RankOutput::keep(std::string_view line, std::size_t dropped) {
  if (incomplete_) return;
  std::string text(line);
  if (dropped > 0) text += fmt::format(" [truncated: {} more bytes]", dropped);
  text += '\n';
  if (written_ + text.size() > most_) {
    incomplete_ = true;
    text = fmt::format("[log truncated at {} bytes]\n", most_);
  }
  // A log that cannot be written must not end a training.
  if (!write_all(file_.get(), text)) incomplete_ = true;
  written_ += text.size();
}

std::vector<FollowedLine> RankOutput::take() { return std::exchange(followed_, {}); }

std::string RankOutput::last_output() const { return join({tail_.begin(), tail_.end()}, " | "); }

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kReadsAtOnce = 64;  // then check the clock: a command may print forever

/// The command of this rank and its output.
class Follower {
 public:
  Follower(Supervised* command, RankOutput& log) : command_(command), log_(log) {}

  Seconds now() const { return {std::chrono::duration<double>(Clock::now() - begin_).count()}; }
  bool running() const { return command_ != nullptr && !end_; }

  /// Reads until the moment, or until the command's end where `leave_at_end`.
  void read_until(Seconds moment, bool leave_at_end) {
    while (now() < moment && !(leave_at_end && !running())) {
      wait(moment);
      if (running()) end_ = command_->look();
      const bool last = !running();
      for (int i = 0; (last || i < kReadsAtOnce) && read_some(); ++i) {
      }
      if (last && !finished_) log_.finish(now());
      finished_ = last;
    }
  }

  void stop() {
    if (running() && !stopped_) command_->stop();
    stopped_ = true;
  }

  Json update(const std::string& log_path) {
    Json lines = Json::array();
    for (const FollowedLine& line : log_.take())
      lines.push_back({line.text, line.arrived_ns, line.arrived.value});
    Json result = {{"lines", std::move(lines)}, {"running", running()}};
    if (end_)
      result["end"] = {
          {"command", *end_},        {"words", log_.last_output()},     {"log", log_path},
          {"cut", log_.lines_cut()}, {"incomplete", log_.incomplete()}, {"host", host_name()}};
    return result;
  }

 private:
  void wait(Seconds moment) {
    const double left = std::clamp((moment - now()).value, 0.0, 1.0);
    std::array<pollfd, 3> fds = {pollfd{-1, POLLIN, 0}, pollfd{-1, POLLIN, 0},
                                 pollfd{-1, POLLIN, 0}};
    if (running()) {
      if (open_[0]) fds[0].fd = command_->output().get();
      if (open_[1]) fds[1].fd = command_->error().get();
      fds[2].fd = command_->status().get();
    }
    poll(fds.data(), fds.size(), static_cast<int>(left * 1000.0) + 1);
  }

  bool read_some() {
    if (command_ == nullptr) return false;
    const bool out = read_from(command_->output(), 0);
    const bool error = read_from(command_->error(), 1);
    return out || error;
  }

  bool read_from(const Descriptor& fd, std::size_t stream) {
    if (!open_[stream]) return false;
    std::array<char, 65536> bytes;
    const ssize_t got = read(fd.get(), bytes.data(), bytes.size());
    if (got > 0) log_.add({bytes.data(), static_cast<std::size_t>(got)}, stream == 1, now());
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) open_[stream] = false;
    return got > 0;
  }

  Supervised* command_;
  RankOutput& log_;
  Clock::time_point begin_ = Clock::now();
  std::optional<CommandEnd> end_;
  bool stopped_ = false, finished_ = false;
  std::array<bool, 2> open_ = {true, true};
};

void take_lines(const Json& update, int rank, const LogTaker& take) {
  for (const Json& logged : update.at("lines")) {
    const auto& text = logged.at(0).get_ref<const std::string&>();
    MllogParse parsed = parse_mllog(text);
    if (parsed.line)
      take.line({std::move(*parsed.line), rank, logged.at(1).get<std::int64_t>(),
                 Seconds{logged.at(2).get<double>()}});
    else
      take.trouble(text, parsed.trouble);
  }
}

CommandReport report_from(const Json& end, int rank) {
  CommandReport report;
  report.rank = rank;
  report.host = end.at("host");
  report.end = end.at("command");
  report.last_output = end.at("words");
  report.log = end.at("log");
  report.lines_cut = end.at("cut");
  report.log_incomplete = end.at("incomplete");
  return report;
}

/// Combines the updates of all ranks on rank 0.
class RunCoordinator {
 public:
  explicit RunCoordinator(const FollowSettings& settings) { run_.deadline = settings.deadline; }

  /// "go", "stop" or "end".
  std::string decide(const std::vector<std::string>& all, Seconds now, const LogTaker& take) {
    run_.commands.clear();
    bool running = false, bad = false;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const Json update = parse_json(all[rank], "a rank's update");
      take_lines(update, static_cast<int>(rank), take);
      running |= update.at("running").get<bool>();
      if (!update.contains("end")) continue;
      run_.commands.push_back(report_from(update.at("end"), static_cast<int>(rank)));
      bad |= !run_.commands.back().end.clean();
    }
    if (!running) return "end";
    if (!bad && !stopping_ && now >= run_.deadline) run_.timed_out = true;
    stopping_ |= bad || run_.timed_out;
    return stopping_ ? "stop" : "go";
  }

  const FinishedRun& run() const { return run_; }

 private:
  FinishedRun run_;
  bool stopping_ = false;
};

}  // namespace

FinishedRun follow(Group& group, Supervised* command, RankOutput& log, const std::string& log_path,
                   const FollowSettings& settings, const LogTaker& take) {
  group.barrier();
  Follower follower(command, log);
  RunCoordinator coordinator(settings);
  const bool alone = group.size() == 1;
  for (std::string decision = "go"; decision != "end";) {
    if (decision == "stop") follower.stop();
    follower.read_until(follower.now() + settings.tick, alone);
    const auto all = group.gather(dump(follower.update(log_path)));
    if (group.rank() == 0) decision = coordinator.decide(all, follower.now(), take);
    decision = broadcast_text(group, decision);
  }
  return coordinator.run();
}

}  // namespace bench::external
