// What a night did and concluded.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "results/gates.h"
#include "results/nightly/finding.h"
#include "results/reports/text_style.h"

namespace bench {

/// A check that there was no time for, or no way to make.
struct LeftOut {
  std::string host, case_name;
  double age_s = kNoValue;  // since it was last made; kNoValue for never
  std::string why;
};

struct NightHost {
  std::string host;
  std::size_t planned = 0, ok = 0;  // jobs tonight
  double age_s = kNoValue;          // since the last check, tonight's included; kNoValue for never
};

/// A command that was told of a finding.
struct HookCall {
  std::string command, host;
  std::string trouble = {};  // why it did not end well; "" where it did
};

struct Night {
  std::string run;                     // the night's first; "" where nothing was chosen
  std::vector<std::string> runs = {};  // all of them: on Slurm one a node
  std::vector<std::string> reruns;     // runs with the label nightly=<run>
  std::string suite;
  std::int64_t time_ns = 0;
  double budget_s = 0.0, seconds = 0.0;
  double value = 0.0;          // of the chosen checks (check_choice.h), summed over hosts
  bool exact = true;           // every host's choice was proven to be the best
  std::size_t tested = 0;      // series held against their history
  std::size_t no_history = 0;  // with too little of it
  std::size_t not_clean = 0;   // measured beside other work
  std::vector<NightFinding> findings;
  std::vector<NightHost> hosts;
  std::vector<LeftOut> left_out;
  std::vector<HookCall> hooks;
  bool indexed = true;  // every run is in the database; all are kept
  bool interrupted = false;
  /// Only what was measured condemns: a job that could not run leaves the night inconclusive.
  bool measured_only = false;
};

/// fail: confirmed and of something that was measured or ran (with `measured_only` measured alone).
Verdict verdict_of(const NightFinding& finding, bool measured_only);
/// fail: a finding is confirmed. inconclusive: one is unsettled, a host is unchecked for too long,
/// or nothing was measured. Else pass.
Verdict verdict_of(const Night& night);
/// 0, 1 and 3 by the verdict, 130 when interrupted, 4 where a run is not in the database.
ExitCode exit_code_of(const Night& night);

/// Adds a finding for each host that nothing of was measured for more than `days`.
void find_unchecked(Night& night, double days);

/// By schemas/nightly.json.
Json to_json(const Night& night);
std::string to_text(const Night& night, const TextStyle& style);
/// One page that needs nothing beside it.
std::string to_html(const Night& night);
/// A test case a host, a finding and a check that was left out; what is not settled is an error.
std::string to_junit(const Night& night);
/// A text file for Prometheus' textfile collector: gauges of the night, its hosts and findings.
std::string to_prometheus(const Night& night);
/// "n1  memory_bandwidth.rate (pages huge)  -4.9 %  confirmed: ..."
std::string finding_line(const NightFinding& finding);

}  // namespace bench
