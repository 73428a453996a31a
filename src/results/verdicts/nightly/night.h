// Results of a night.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "results/run/conclusion.h"
#include "results/run/job_results.h"
#include "results/verdicts/nightly/finding.h"

namespace bench {

/// A skipped check, for lack of time or because it cannot run.
struct SkippedCheck {
  std::string host, case_name;
  double age_s = kNoValue;  // since the last check; kNoValue if never
  std::string why;
};

struct NightHost {
  std::string host;
  std::size_t planned = 0, ok = 0;  // jobs tonight
  double age_s = kNoValue;          // since the last check, including tonight; kNoValue if never
  std::size_t disturbed = 0;        // ok, but without clean samples (JobResult::disturbed)
};

/// A hook that was called for a finding.
struct HookCall {
  std::string command, host;
  std::string trouble = {};  // why it failed; "" for success
};

struct Night {
  std::string run;                     // first run of the night; "" if nothing was chosen
  std::vector<std::string> runs = {};  // all runs; one per node on Slurm
  std::vector<std::string> reruns;     // runs with the label nightly=<run>
  std::string suite;
  std::int64_t time_ns = 0;
  double budget_s = 0.0, seconds = 0.0;
  double value = 0.0;          // of the chosen checks (check_choice.h), summed over hosts
  bool exact = true;           // the choice of every host is optimal
  std::size_t tested = 0;      // series compared with their history
  std::size_t no_history = 0;  // without enough history
  std::size_t not_clean = 0;   // disturbed by other work
  std::vector<NightFinding> findings;
  std::vector<NightTrend> trends = {};
  std::vector<NightHost> hosts;
  std::vector<SkippedCheck> skipped_checks;
  std::vector<HookCall> hooks;
  bool indexed = true;  // every run is in the database; runs are stored either way
  bool interrupted = false;
  /// Only measurements can fail the night: a job that could not run leaves it inconclusive.
  bool measured_only = false;
};

/// Adds a run's jobs to those of their hosts.
void count_jobs(const std::vector<JobResult>& jobs, std::map<std::string, NightHost>& hosts);

/// fail: confirmed, and measured or run (with `measured_only`, measured only).
Verdict verdict_of(const NightFinding& finding, bool measured_only);
/// failed: confirmed findings. unjudged: unsettled ones, hosts unchecked for too long, jobs without
/// clean samples, hosts without an ok job. passed: series compared with their history.
Conclusion conclusion_of(const Night& night);
Verdict verdict_of(const Night& night);
ExitCode exit_code_of(const Night& night);
/// Why the night judged less than what was asked for; "" if it did not.
std::string why_inconclusive(const Night& night);

/// Adds a finding for each host not measured for more than `days`.
void find_unchecked(Night& night, double days);

/// By schemas/nightly.json.
Json to_json(const Night& night);

}  // namespace bench
