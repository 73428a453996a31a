// What the searches of a run say: for each job of several hosts, or of several GPUs of a host, that
// failed or was slow, who it is: host, link or GPU,
// with the jobs that show it; and what to run next while the budget lasts. Derived from the run's
// records alone. plan.json keeps the budget and which jobs a search asked for:
// {"localisation": {"max_jobs": 40, "max_s": null, "jobs": {ID: ID of the job that is searched}}}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/localisation/device_search.h"
#include "results/localisation/incident.h"
#include "results/reports/text_style.h"
#include "results/run_records.h"

namespace bench {

struct SearchBudget {
  std::size_t max_jobs = 40;  // of all searches of a run
  /// Of these jobs, counted one after another. Nothing: a fifth of what the run's own jobs took,
  /// counted so, and not less than kLeastSearch.
  std::optional<double> max_s = {};
};
inline constexpr double kLeastSearchS = 300.0;
inline constexpr double kShareOfRun = 0.2;

/// Nothing where the run does not search.
std::optional<SearchBudget> search_budget(const Json& plan);
Json to_json(const SearchBudget& budget);

struct Localisation {
  Incident incident;
  SearchStep step;                         // next: what the budget allows
  bool spent = false;                      // the budget ended the search
  std::string explained_by = {};           // what another search named: not searched
  std::vector<DeviceSearch> devices = {};  // of the hosts that were named, where GPUs are measured
};

/// `order`: the hosts of the plan. Without a budget nothing is asked for: only what the run's own
/// jobs say already.
std::vector<Localisation> localise(const RunSummary& report, const Hosts& order,
                                   const std::optional<SearchBudget>& budget);

/// Whether it has jobs to run now; whether the budget ended it.
bool goes_on(const Localisation& one);
bool is_spent(const Localisation& one);
/// Everything that it found is a host, link or GPU, and nothing is left open.
bool is_settled(const Localisation& one);

/// The hosts of plan.json in their order.
Hosts hosts_of_plan(const Json& plan);

/// "all is slow on node[01-04]: collective.busbw (...) 11.7 MB/s, which misses 60 MB/s".
std::string describe(const Incident& incident);
/// "host node03: with it 11.8 MB/s on node[01,03], ...; without it 480 MB/s on node[01-02]".
std::string describe(const SearchFinding& finding, const Incident& incident);

/// A section of a report; "" where there is nothing to say.
std::string localisation_text(const std::vector<Localisation>& list, const TextStyle& style);
Json localisation_json(const std::vector<Localisation>& list);

/// The run without the jobs that searches asked for.
RunRecords without_searches(RunRecords run);

}  // namespace bench
