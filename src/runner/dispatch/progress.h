// What the user sees while a run goes on, on stderr: on a terminal one line that is redrawn, else
// one plain line for each job that ended.
#pragma once

#include <chrono>
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

  Progress(Style style, const Plan& plan, int fd = 2);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// More jobs, which follow from what was measured.
  void add(const Plan& plan);
  void start(const PlanEntry& entry);
  /// Redraws when it is time to.
  void tick();
  void finish(const Job& job, const Outcome& outcome);
  /// When tick() should be called next, from now; nothing to be drawn: an hour.
  Seconds pace() const;

 private:
  void write(const std::string& text) const;
  void clear();

  Style style_;
  std::map<std::string, std::string> what_is_;  // job id -> case and axis values
  int fd_;
  std::size_t done_ = 0;
  std::string what_;
  Seconds expected_;
  std::chrono::steady_clock::time_point started_, drawn_;
  bool drawn_any_ = false;
};

}  // namespace bench
