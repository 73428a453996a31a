// A running bench-rank (or the mpirun above several): job lines go in, events come out. Every way
// in which it can misbehave is an event with a reason; next() never blocks past its deadline.
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
  std::string json;  // the record's text as it was sent, without marker and checksum
};
struct Fault {
  std::string reason;  // what it did that it must not; it has to be stopped
};
struct Ended {
  Exit exit;
};
struct TimeUp {};
struct Interrupted {};
using RankEvent = std::variant<Received, Fault, Ended, TimeUp, Interrupted>;

/// How long to wait at each step when a process is to end.
struct Graces {
  Seconds terminate{2.0};      // after SIGTERM
  Seconds kill{2.0};           // after SIGKILL; then it is abandoned
  Seconds closed_output{1.0};  // between the end of its output and its own end
};

class RankProcess {
 public:
  /// Throws Error(environment) when it cannot be started.
  RankProcess(const Command& command, const std::filesystem::path& log,
              const Interrupts& interrupts, Graces graces, Signaller signaller = signal_session);

  void send(const std::string& line);
  /// The next thing that happens, at the latest at the deadline. Interrupted is told once per
  /// signal.
  RankEvent next(Clock::time_point deadline);

  /// Says that there are no more jobs.
  void close_input();
  /// SIGTERM, SIGKILL, abandonment; records that still arrive go to `keep`. Says how it went:
  /// "ended on SIGTERM", "ended on SIGKILL", "process 12 did not end: D (uninterruptible sleep)".
  std::string stop(const Graces& graces, const std::function<void(const Received&)>& keep);

  RankLog& log() { return log_; }
  bool gone() const { return gone_; }
  /// stop() did not end it.
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
  Graces graces_;
  RankLog log_;
  Process process_;
  LineBuffer records_;
  LineBuffer talk_;
  std::string unsent_;
  bool closing_ = false;
  bool gone_ = false;
  bool abandoned_ = false;
  bool overflow_told_ = false;
  std::optional<Clock::time_point> output_closed_;
  std::optional<Clock::time_point> ended_;
  int interrupts_told_ = 0;
};

}  // namespace bench
