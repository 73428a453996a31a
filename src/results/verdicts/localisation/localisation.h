// Searches of a run: for each failed or slow job of several hosts, or of several GPUs of a host,
// the isolated host, link or GPU with its evidence, and the jobs to run next while the budget
// lasts. Derived from the records alone. plan.json stores the budget and the search jobs:
// {"localisation": {"max_jobs": 60, "max_s": null, "jobs": {ID: ID of the job that is searched}}}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/run/run_records.h"
#include "results/verdicts/localisation/device_search.h"
#include "results/verdicts/localisation/incident.h"

namespace bench {

struct SearchBudget {
  std::size_t max_jobs = 60;  // for all searches of a run
  /// Total run time of these jobs. Default: a fifth of the total of the run's own jobs, at least
  /// kLeastSearch.
  std::optional<double> max_s = {};
};
inline constexpr double kLeastSearchS = 300.0;
inline constexpr double kShareOfRun = 0.2;

/// Empty if the run does not search.
std::optional<SearchBudget> search_budget(const Json& plan);
Json to_json(const SearchBudget& budget);

struct Localisation {
  Incident incident;
  SearchStep step;                         // next: jobs within the budget
  bool spent = false;                      // the budget ended the search
  std::string explained_by = {};           // finding of another search that explains this one
  std::vector<DeviceSearch> devices = {};  // for isolated hosts of GPU jobs
};

/// `plan`: plan.json, with the hosts and the budget. Without a budget it requests no jobs and
/// concludes from existing ones.
std::vector<Localisation> localise(const RunSummary& report, const Json& plan);

/// Whether it has jobs to run now; whether the budget ended it.
bool goes_on(const Localisation& one);
bool is_spent(const Localisation& one);
/// Every finding is a host, link or GPU, and nothing is open.
bool is_settled(const Localisation& one);

/// "all is slow on node[01-04]: collective.busbw (...) 11.7 MB/s, the suite requires 60 MB/s".
std::string describe(const Incident& incident);
/// "host node03: with it 11.8 MB/s on node[01,03], ...; without it 480 MB/s on node[01-02]".
std::string describe(const SearchFinding& finding, const Incident& incident);

Json localisation_json(const std::vector<Localisation>& list);

/// The run without search jobs.
RunRecords without_searches(RunRecords run);

}  // namespace bench
