#include "runner/dispatch/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "core/child_process.h"
#include "core/json.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kLongestWhat = 80;
// Drawing uses CPU time during measurements, so only twice a second.
constexpr Seconds kPace{0.5};

/// "gemm dtype=f32 threads=2"
std::string label_of(const PlanEntry& entry) {
  std::string text = entry.job.case_name;
  for (const auto& [name, value] : entry.axes.items())
    text += fmt::format(" {}={}", name, text_of(value));
  if (text.size() > kLongestWhat) text = text.substr(0, kLongestWhat) + "...";
  return printable(text);
}

std::size_t terminal_width(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Style Progress::suitable_style() {
  const std::string terminal = environment_variable("TERM");
  const bool dumb = terminal.empty() || terminal == "dumb";
  return isatty(2) && !dumb ? Style::live : Style::plain;
}

Progress::Progress(Style style, const Plan& plan, int fd) : style_(style), fd_(fd) { add(plan); }

void Progress::add(const Plan& plan) {
  for (const PlanEntry& entry : plan.entries) labels_[entry.job.id] = label_of(entry);
}

Progress::~Progress() { clear(); }

void Progress::start(const PlanEntry& entry) {
  what_ = labels_[entry.job.id];
  expected_ = entry.expected;
  started_ = std::chrono::steady_clock::now();
  drawn_ = {};
  tick();
}

void Progress::tick() {
  const auto now = std::chrono::steady_clock::now();
  if (style_ != Style::live || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  drawn_any_ = true;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  const std::string line =
      fmt::format("[{}/{}] {}  {:.0f} s of about {:.0f} s", done_ + 1, labels_.size(), what_,
                  elapsed, std::max(1.0, expected_.value));
  write("\r\033[K" + line.substr(0, terminal_width(fd_) - 1));
}

void Progress::finish(const Job& job, const Outcome& outcome) {
  ++done_;
  clear();
  const bool notable = outcome.status != Status::ok;
  if (style_ == Style::silent || (style_ == Style::live && !notable)) return;
  write(fmt::format("[{}/{}] {} {} {:.1f} s{}\n", done_, labels_.size(), labels_[job.id],
                    to_string(outcome.status), outcome.seconds,
                    outcome.reason.empty() ? "" : ": " + printable(outcome.reason)));
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
