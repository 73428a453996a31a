// Summary of one series: one metric of one job at one set of parameters. The headline is the median
// of the clean samples; the unfiltered median is kept next to it, so filtering stays visible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/order_statistics.h"
#include "core/record.h"
#include "results/run/job_results.h"

namespace bench {

/// Values are in the base unit of `unit`; kNoValue (NaN) if missing.
struct Series {
  // Identity inside a run: job, metric, params, over, host, rank.
  std::string job;
  std::string case_name;
  std::string probe;
  std::string metric;  // with the probe's name: "gemm.throughput"; empty for a job without one
  /// What distinguishes the series within its case: the job's axes, its device or rail, and
  /// parameters that vary within the job.
  Json params = Json::object();
  std::string over;
  std::string host;
  int rank = 0;
  std::string device;
  int ranks = 1;
  int repeat = 0;
  std::int64_t time_ns = 0;

  Unit unit = Unit::count;
  Better better = Better::none;
  std::size_t n = 0;
  std::size_t clean = 0;  // 0: the statistics below are over all samples
  double min = kNoValue;
  double p5 = kNoValue;
  double median = kNoValue;
  double mean = kNoValue;
  double std = kNoValue;
  double p95 = kNoValue;  // from 20 samples on
  double p99 = kNoValue;  // from 100 samples on
  double max = kNoValue;
  double low = kNoValue;  // 95 % interval of the median; from six samples on
  double high = kNoValue;
  double unfiltered_median = kNoValue;
  /// How many samples carry each flag: {"stolen": 3}.
  std::map<std::string, std::size_t> flags;

  std::optional<Limit> limit;
  double of_limit = kNoValue;  // value / limit, or limit / value if lower is better
  /// The same relative to the limit at the actual clock; only if the limit states its clock.
  double of_limit_at_clock = kNoValue;
  Status outcome = Status::ok;
  std::string reason;
  std::string stop;
  std::int64_t repeats = 1;
  Quality quality;
  std::optional<Check> check;
  bool derived = false;   // from other results (derived_results.h)
  Json chosen = nullptr;  // a library's own choice; null if not reported
  /// Index in RunRecords::records of the samples.
  std::optional<std::size_t> record;
};

/// Summary of one record. A sample that is not a number is not clean and makes the series invalid.
/// `job` supplies the context.
Series summarise(const Samples& samples, const PlannedJob& job);

/// Summaries job by job: those of 80,000 jobs at once would need as much memory as the results.
class SeriesOfJobs {
 public:
  /// Both must outlive it.
  SeriesOfJobs(const RunRecords& run, const std::vector<JobResult>& jobs);
  /// Upper bound of their number over all jobs.
  std::size_t most() const;
  /// The series of jobs[job] in arrival order; of duplicates (a rerun job) the later counts.
  /// Samples of an invalid job are invalid too.
  std::vector<Series> of(std::size_t job) const;

 private:
  const RunRecords& run_;
  const std::vector<JobResult>& jobs_;
  /// What varies among the jobs of a case.
  std::map<std::string, std::set<std::string>> axes_;
  std::vector<std::vector<std::size_t>> records_;  // of each job: indices of its samples
};

/// `value` relative to the limit: 1 is at the limit, less is worse. kNoValue if unknown.
double of_limit(double value, Better better, const std::optional<Limit>& limit);

/// Share of a clock-dependent limit at the actual clock. kNoValue if either is unknown.
double at_clock_held(double of_limit, const std::optional<Limit>& limit,
                     const std::optional<double>& clock_hz);

/// The 95 % interval of the median. Below six samples there is none: the range of the samples is
/// used instead, which for a single value (such as a count) is the value itself.
Interval interval_of(const Series& series);

/// The part of the samples that was clean, 0..1; kNoValue for none at all.
double clean_share(const Series& series);

/// CPU time that the quota of the cgroup withheld, by the kernel's account, per wall time: summed
/// over CPUs, so above 1 with several threads; 0 without a quota.
double withheld_share(const Quality& quality);
/// From here on the quota counts: less is the start and the end of a series.
inline constexpr double kWithheldShare = 0.03;
/// Throttled for less than this, a series of a few milliseconds only met the end of a period.
inline constexpr double kThrottledS = 0.005;

/// unfiltered_median / median - 1; kNoValue if either is missing.
double filter_effect(const Series& series);

}  // namespace bench
