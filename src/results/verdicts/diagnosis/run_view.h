// One run as the observers of trainings, loaders and checkpoints read it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/run/counters.h"
#include "results/run/job_results.h"
#include "results/run/series.h"
#include "results/run/series_telemetry.h"
#include "results/verdicts/diagnosis/observation.h"

namespace bench::diagnosis {

/// Borrows the records.
class RunView {
 public:
  explicit RunView(const RunRecords& run);

  const RunRecords& run() const { return run_; }
  const std::vector<JobResult>& jobs() const { return jobs_; }
  std::vector<Series> series(std::size_t job) const { return series_.of(job); }
  /// The job's last facts on that topic; an empty object if none.
  const Json& facts(const std::string& job, const std::string& topic) const;
  /// The host's last facts on that topic, from any job or before them; an empty object if none.
  const Json& facts_of_host(const std::string& host, const std::string& topic) const;
  /// Null if the job has no chunk of that name.
  const Chunk* chunk(const std::string& job, const std::string& name) const;
  const TelemetryIndex& telemetry() const { return telemetry_; }
  /// Counters of errors of the run's hosts, over all its jobs.
  const std::vector<HostCounter>& counters() const { return counters_; }
  /// The samples of a series.
  std::vector<double> values(const Series& series) const;

 private:
  const RunRecords& run_;
  std::vector<JobResult> jobs_;
  SeriesOfJobs series_;
  TelemetryIndex telemetry_;
  std::vector<HostCounter> counters_;
  std::map<std::pair<std::string, std::string>, const Json*> facts_ = {}, host_facts_ = {};
  std::map<std::pair<std::string, std::string>, const Chunk*> chunks_ = {};
};

/// Whether it is an ok series of a metric (without probe name) whose params contain `params`.
bool is_of(const Series& series, const std::string& metric, const Json& params = Json::object());
/// The first match; null if none.
const Series* find_series(const std::vector<Series>& all, const std::string& metric,
                          const Json& params = Json::object());
/// Its median; NaN for none.
double median_of(const std::vector<Series>& all, const std::string& metric,
                 const Json& params = Json::object());
/// "images: data_loader.stall".
std::string source_of(const JobResult& job, const std::string& metric);

/// Adds host and GPU measures of a job: load, faults, clocks, activity. `host_facts`: the probe's
/// facts on its host ("host").
void add_host(Observation& observation, const RunView& view, std::size_t job,
              const Json& host_facts);

}  // namespace bench::diagnosis
