// Telemetry of hosts and GPUs during a case: one line per series, or one for all if there are many.
#pragma once

#include <map>
#include <set>
#include <string>

#include "results/output/document/document.h"
#include "results/run/dimensions.h"
#include "results/run/series_telemetry.h"

namespace bench {

// Merges telemetry of several phases or GPUs: overall extremes, time-weighted means, and the
// largest share of each throttle reason.

class MergedTelemetry {
 public:
  void add(const SeriesTelemetry& one);
  /// Whether heat or hardware throttled a clock, or there were abnormal errors.
  bool troubled() const;
  /// "CPU 98 % busy, 2 % steal; GPU 0 SM clock ..., power cap 98 % of the time"; "" for nothing.
  std::string text() const;

 private:
  /// A mean, with extremes if known.
  class Range {
   public:
    void add(double mean, double weight);
    void add(const Spread& spread, double weight);
    bool known() const { return weight_ > 0.0; }
    double mean() const { return sum_ / weight_; }
    double min() const { return min_; }
    double max() const { return max_; }

   private:
    double sum_ = 0.0, weight_ = 0.0, min_ = kNoValue, max_ = kNoValue;
  };

  void add(const GpuTelemetry& gpu, double weight);
  std::string cpu_text() const;
  std::string gpu_text() const;
  std::string clock_text() const;
  std::string power_text() const;

  Range busy_, steal_, wait_, watts_, clock_, power_, limits_;
  double hottest_ = kNoValue;
  double energy_ = 0.0;
  std::set<int> gpus_;
  std::map<std::string, double> reasons_;
  std::map<std::string, double> errors_;  // of one job, the most
};

/// None without telemetry. Yellow if heat or hardware throttled a clock; a power cap is normal at
/// full load.
Lines telemetry_lines(const Rows& rows);

}  // namespace bench
