// The trainings of a run as they are now, from the events of their ranks: a line of text for
// people, gauges for Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/record.h"
#include "core/training_progress.h"
#include "results/run/gauges.h"
#include "runner/dispatch/progress.h"
#include "runner/plan/planner.h"

namespace bench {

class TrainingView {
 public:
  struct News {
    std::string line = {};    // where the training is; "" if only the other has news
    std::string notice = {};  // what should not be missed: a slowdown began or ended
  };

  /// Call before the job's events.
  void start(const PlanEntry& entry);
  /// None for events that are not about a training's progress.
  std::optional<News> take(const std::string& job, const Record& record);
  /// Shows the news of a record; whether there were any.
  bool show(const Job& job, const Record& record, Progress& progress);
  /// Whether it was a training.
  bool finish(const std::string& job);

  /// For node_exporter's textfile collector: one sample per gauge and training of this run.
  std::string gauges(const std::string& run) const;

 private:
  struct Training {
    GaugeLabels labels = {};
    bool running = true;
    std::int64_t time_ns = 0;  // of the last report
    TrainingProgress progress = {};
    std::optional<TrainingSlowdown> slow = {};
    /// Of a training that others wrote: its last evaluation.
    std::string evaluation = {};
    std::optional<double> quality = {}, samples = {}, samples_per_second = {};
    std::int64_t evaluated_ms = 0;
  };
  static std::string line_of(const Training& training);
  static bool take_evaluation(Training& training, const Json& line);

  std::map<std::string, GaugeLabels> started_ = {};  // by job
  std::map<std::string, Training> trainings_ = {};
};

}  // namespace bench
