// A running bench-rank, or mpirun with several: job lines go in, events come out. Every failure is an
// event with a reason; next() never blocks past its deadline.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <variant>

#include "core/record.h"
#include "core/units.h"
#include "runner/dispatch/interrupts.h"
#include "runner/launch/line_buffer.h"
#include "runner/launch/process.h"
#include "runner/launch/rank_log.h"

namespace bench {

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
              const Interrupts& interrupts, GracePeriods grace, Signaller signaller = signal_session);

  void send(const std::string& line);
  /// The next event, or TimeUp at the deadline. Interrupted is reported once per signal.
  RankEvent next(Clock::time_point deadline);

  /// Closes stdin: there are no more jobs.
  void close_input();
  /// Sends SIGTERM, then SIGKILL, then gives up; late records go to `keep`. Returns the result: "ended on
  /// SIGTERM", "ended on SIGKILL", "process 12 did not end: D (uninterruptible sleep)".
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
