// Progress of a run on stderr: one redrawn line on a terminal, else one line per finished job.
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

  /// Adds follow-up jobs.
  void add(const Plan& plan);
  void start(const PlanEntry& entry);
  /// Redraws when due.
  void tick();
  void finish(const Job& job, const Outcome& outcome);
  /// Time until the next tick(); an hour if nothing is drawn.
  Seconds pace() const;

 private:
  void write(const std::string& text) const;
  void clear();

  Style style_;
  std::map<std::string, std::string> labels_;  // job id -> case and axis values
  int fd_;
  std::size_t done_ = 0;
  std::string what_;
  Seconds expected_;
  std::chrono::steady_clock::time_point started_, drawn_;
  bool drawn_any_ = false;
};

}  // namespace bench
