// The cells that tables of results share, and the footnotes that their marks refer to.
#pragma once

#include <limits>
#include <map>
#include <string>

#include "results/output/document/document.h"
#include "results/run/run_summary.h"

namespace bench {

/// Share of CPU time; less steal is not reported.
inline constexpr double kNotableSteal = 0.005;

/// "[113.2, 113.9]" in the unit of the median's text; "" without an interval.
std::string interval_text(const Series& series);
/// The wider half of the interval relative to the median: "0.4 %".
std::string half_width_text(const Series& series);
std::string limit_text(const Series& series);
std::string of_limit_text(const Series& series);
/// Share at the actual clock, if it differs from the limit's.
std::string at_clock_text(const Series& series);
/// The metric without the name of its own probe: "throughput".
std::string short_metric(const Series& series);
/// The median with its unit, in bold.
DocumentCell median_cell(const Series& series);
DocumentCell outcome_cell(const Result& result);

/// Collects the footnotes of a table while its rows are written.
class Footnotes {
 public:
  /// The share of clean samples, with "*" when it is below one half and "^" when the clean median
  /// is more than 2 % away from that of all samples.
  DocumentCell clean_cell(const Series& series);
  void note_limit(const Series& series);
  Lines lines() const;

 private:
  void note_quality(const Quality& quality);
  void note_clock(const Series& series);

  bool disturbed_ = false;
  bool shifted_ = false;
  double largest_shift_ = 0.0;
  double shifted_from_ = 0.0;
  std::map<std::string, std::size_t> flags_;
  std::size_t samples_ = 0;  // of the disturbed series
  Unit shifted_unit_ = Unit::count;
  struct LimitRange {
    double low, high;
    Unit unit;
  };
  std::map<std::string, LimitRange> limits_;  // by kind and source
  double steal_ = 0.0;
  double throttled_s_ = 0.0;
  double others_share_ = 0.0;
  double cpu_share_ = 1.0;
  double least_clock_ = std::numeric_limits<double>::infinity();
  double most_clock_ = 0.0;
};

}  // namespace bench
