// A running bench-rank, or mpirun with several: job lines go in, events come out. Every failure is
// an event with a reason; next() never blocks past its deadline.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/descriptor.h"
#include "core/record.h"
#include "core/units.h"
#include "runner/launch/interrupts.h"
#include "runner/launch/process.h"

namespace bench {

// Log of a rank's other output: stored in a file of limited size; its last lines are used in
// reasons.

class RankLog {
 public:
  static constexpr std::size_t kMaxBytes = 16u << 20;

  /// Throws Error(environment) if the file cannot be created.
  explicit RankLog(const std::filesystem::path& path);

  void add_line(std::string_view line);
  /// Starts a new tail for another job. The file keeps all lines.
  void start_job() { tail_.clear(), error_.clear(); }
  /// The first error of a rank and the last lines since start_job(), joined by " | " and printable;
  /// empty if there are none.
  std::string stderr_tail() const;

 private:
  Descriptor file_;
  std::size_t written_ = 0;
  std::deque<std::string> tail_;
  std::string error_;
};

// Splits the output of a child into lines of limited length, to bound memory.

class LineBuffer {
 public:
  explicit LineBuffer(std::size_t longest) : longest_(longest) {}

  void add(std::string_view bytes);
  /// The next complete line, without its newline.
  std::optional<std::string> next();
  /// End of stream: the rest after the last newline becomes a line.
  void finish();
  /// A line exceeded the limit and was dropped.
  bool overflowed() const { return overflowed_; }

 private:
  std::size_t longest_;
  std::string partial_;
  std::deque<std::string> lines_;
  bool dropping_ = false;
  bool overflowed_ = false;
};

using Clock = std::chrono::steady_clock;
Clock::time_point after(Seconds time);

struct Received {
  Record record;
  std::string json;  // the record as sent, without marker and checksum
};
struct Fault {
  std::string reason;  // what it did wrong; it must be stopped
};
struct Ended {
  Exit exit;
};
struct TimeUp {};
struct Interrupted {};
using RankEvent = std::variant<Received, Fault, Ended, TimeUp, Interrupted>;

/// Grace periods when stopping a process.
struct GracePeriods {
  Seconds terminate{2.0};      // after SIGTERM
  Seconds kill{2.0};           // after SIGKILL; then it is abandoned
  Seconds closed_output{1.0};  // from end of output to process exit
};

class RankProcess {
 public:
  /// Throws Error(environment) if it cannot be started.
  RankProcess(const Command& command, const std::filesystem::path& log,
              const Interrupts& interrupts, GracePeriods grace,
              Signaller signaller = signal_session);

  void send(const std::string& line);
  /// The next event, or TimeUp at the deadline. Interrupted is reported once per signal.
  RankEvent next(Clock::time_point deadline);

  /// Closes stdin: there are no more jobs.
  void close_input();
  /// Sends SIGTERM, then SIGKILL, then gives up; late records go to `keep`. Returns the result:
  /// "ended on SIGTERM", "ended on SIGKILL", "process 12 did not end: D (uninterruptible sleep)".
  std::string stop(const GracePeriods& grace, const std::function<void(const Received&)>& keep);

  RankLog& log() { return log_; }
  bool gone() const { return gone_; }
  /// stop() could not end it.
  bool abandoned() const { return abandoned_; }

 private:
  std::optional<RankEvent> take_line();
  std::optional<RankEvent> look_at_end();
  void wait(Clock::time_point deadline);
  bool read_output();
  void read_error();
  void write_input();
  bool wait_for_end(Seconds grace, const std::function<void(const Received&)>& keep);

  const Interrupts& interrupts_;
  GracePeriods grace_;
  RankLog log_;
  Process process_;
  LineBuffer records_;
  LineBuffer stderr_lines_;
  std::string unsent_;
  bool closing_ = false;
  bool gone_ = false;
  bool abandoned_ = false;
  bool overflow_reported_ = false;
  std::optional<Clock::time_point> output_closed_;
  std::optional<Clock::time_point> ended_;
  int interrupts_reported_ = 0;
};

}  // namespace bench
