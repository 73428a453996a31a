#include "runner/dispatch/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/child_process.h"
#include "core/json.h"
#include "core/text.h"
#include "results/output/document/text_style.h"

namespace bench {
namespace {

constexpr std::size_t kLongestWhat = 80;
// Drawing uses CPU time during measurements, so only twice a second.
constexpr Seconds kPace{0.5};
constexpr double kLeastPace_s = 0.1;
constexpr double kFirstNote_s = 10.0, kLongestWait_s = 600.0;  // between notes without a terminal

/// "gemm dtype=f32 threads=2"
std::string label_of(const PlanEntry& entry) {
  std::string text = entry.job.case_name;
  for (const auto& [name, value] : entry.axes->items())
    text += fmt::format(" {}={}", name, text_of(value));
  if (text.size() > kLongestWhat) text = text.substr(0, kLongestWhat) + "...";
  return printable(text);
}

std::size_t width_of(int fd) {
  constexpr std::size_t kUsual = 80;
  const std::size_t columns = terminal_columns(fd);
  return columns > 0 ? columns : kUsual;
}

}  // namespace

Progress::Style Progress::suitable_style() {
  const std::string terminal = environment_variable("TERM");
  const bool dumb = terminal.empty() || terminal == "dumb";
  return isatty(2) && !dumb ? Style::live : Style::plain;
}

Progress::Progress(Style style, const Plan& plan, int lanes, int fd, Watch watch)
    : style_(style), lanes_(std::max(1, lanes)), fd_(fd), watch_(std::move(watch)) {
  if (!watch_)
    watch_ = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
    };
  began_s_ = last_done_s_ = watch_();
  add(plan);
}

void Progress::add(const Plan& plan) {
  for (const PlanEntry& entry : plan.entries) {
    jobs_[entry.job.id] = {label_of(entry), entry.expected.value};
    expected_s_ += entry.expected.value;
  }
}

Progress::~Progress() { clear(); }

void Progress::start(const PlanEntry& entry) {
  Known& known = jobs_[entry.job.id];
  known.note.clear();
  known.began_s = watch_();
  known.next_note_s = known.began_s + kFirstNote_s;
  current_ = entry.job.id;
  drawn_s_ = -kLeastPace_s;
  tick();
}

void Progress::note(const Job& job, const std::string& text) {
  Known& known = jobs_[job.id];
  known.note = text;
  current_ = job.id;
  const double now_s = watch_();
  if (style_ != Style::plain || text.empty() || now_s < known.next_note_s) return;
  known.next_note_s = now_s + std::min(kLongestWait_s, now_s - known.began_s);
  write(fmt::format("[{}/{}] {}: {}\n", done_ + 1, jobs_.size(), known.label, text));
}

void Progress::notice(const Job& job, const std::string& text) {
  if (style_ == Style::silent) return;
  clear();
  write(fmt::format("{}: {}\n", jobs_[job.id].label, text));
}

std::string Progress::time_left() const {
  const double left = expected_s_ - expected_done_s_;
  if (!(left > 0.0)) return "";
  // Estimates of first runs are rough: the pace until the last finished job counts, which also has
  // the launches in it and what runs in parallel.
  const double pace = expected_done_s_ > 0.0 ? (last_done_s_ - began_s_) / expected_done_s_
                                             : 1.0 / static_cast<double>(lanes_);
  const double seconds = std::max(1.0, left * pace - (watch_() - last_done_s_));
  return seconds < 100.0 ? fmt::format("about {:.0f} s left", seconds)
                         : fmt::format("about {:.0f} min left", seconds / 60.0);
}

void Progress::tick() {
  const double now_s = watch_();
  if (style_ != Style::live || now_s < drawn_s_ + kLeastPace_s) return;
  drawn_s_ = now_s;
  drawn_any_ = true;
  write("\r\033[K" + drawn_line().substr(0, width_of(fd_) - 1));
}

std::string Progress::drawn_line() const {
  const auto found = jobs_.find(current_);
  const Known current = found == jobs_.end() ? Known{} : found->second;
  if (!current.note.empty())
    return fmt::format("{}/{} {}: {}", done_, jobs_.size(), current.label, current.note);
  constexpr std::size_t kCells = 16;
  const std::string filled = bar(static_cast<double>(done_) / static_cast<double>(jobs_.size()),
                                 kCells, {.unicode = false});
  return fmt::format("[{:.<{}}] {}/{}  {}  {}", filled, kCells, done_, jobs_.size(), time_left(),
                     current.label);
}

bool Progress::is_plain_line_due(const Outcome& outcome) const {
  constexpr std::size_t kFewJobs = 50, kLines = 20;
  if (jobs_.size() <= kFewJobs || outcome.status != Status::ok || done_ == jobs_.size())
    return true;
  return done_ * kLines / jobs_.size() != (done_ - 1) * kLines / jobs_.size();
}

void Progress::finish(const Job& job, const Outcome& outcome) {
  ++done_;
  Known& known = jobs_[job.id];
  known.note.clear();
  expected_done_s_ += known.expected_s;
  last_done_s_ = watch_();
  clear();
  const bool notable = outcome.status != Status::ok;
  if (style_ == Style::silent || (style_ == Style::live && !notable)) return;
  if (!is_plain_line_due(outcome)) return;
  const std::string left = jobs_.size() > done_ ? time_left() : "";
  write(fmt::format("[{}/{}] {} {} {:.1f} s{}{}\n", done_, jobs_.size(), known.label,
                    to_string(outcome.status), outcome.seconds,
                    outcome.reason.empty() ? "" : ": " + printable(outcome.reason),
                    left.empty() ? "" : "; " + left));
}

Seconds Progress::pace() const { return style_ == Style::live ? kPace : Seconds{3600.0}; }

void Progress::clear() {
  if (drawn_any_) write("\r\033[K");
  drawn_any_ = false;
}

void Progress::write(const std::string& text) const {
  if (::write(fd_, text.data(), text.size()) < 0) return;  // stderr is closed
}

}  // namespace bench
