// Progress of a run on stderr: a redrawn bar with the time left on a terminal, else a line per
// finished job, or for a long plan one per twentieth of it and one per job that is not ok.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/units.h"
#include "runner/plan/planner.h"

namespace bench {

class Progress {
 public:
  enum class Style { live, plain, silent };
  /// live when stderr is a terminal.
  static Style suitable_style();

  /// Seconds since some moment; a test has its own.
  using Watch = std::function<double()>;
  /// `lanes`: jobs at once.
  Progress(Style style, const Plan& plan, int lanes = 1, int fd = 2, Watch watch = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Adds follow-up jobs.
  void add(const Plan& plan);
  void start(const PlanEntry& entry);
  /// What a running job is doing: the current line on a terminal; else a line after 10 s, 20 s,
  /// 40 s, ..., at least one in ten minutes.
  void note(const Job& job, const std::string& text);
  /// Something about a running job that stays to be read.
  void notice(const Job& job, const std::string& text);
  /// Redraws when due.
  void tick();
  void finish(const Job& job, const Outcome& outcome);
  /// Time until the next tick(); an hour if nothing is drawn.
  Seconds pace() const;

 private:
  /// "about 40 s left": what the jobs to come were expected to take, at the pace so far.
  std::string time_left() const;
  bool is_plain_line_due(const Outcome& outcome) const;
  std::string drawn_line() const;
  void write(const std::string& text) const;
  void clear();

  Style style_;
  struct Known {
    std::string label;  // case and axis values
    double expected_s = 0.0;
    std::string note = {};
    double began_s = 0.0, next_note_s = 0.0;  // by the watch
  };
  std::map<std::string, Known> jobs_;
  int lanes_, fd_;
  Watch watch_;
  std::size_t done_ = 0;
  double expected_done_s_ = 0.0, expected_s_ = 0.0;  // of the jobs done, and of all
  double began_s_ = 0.0, last_done_s_ = 0.0;         // by the watch
  std::string current_;                              // the job that is shown
  double drawn_s_ = 0.0;                             // by the watch
  bool drawn_any_ = false;
};

}  // namespace bench
