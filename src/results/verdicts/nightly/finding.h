// A finding of a night on one host: first a suspicion, then, after immediate reruns, a verdict.
// Findings are stored in the run as events (kFindingEvent), so that a rebuilt database has them.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/units.h"

namespace bench {

inline constexpr const char* kFindingEvent = "nightly_finding";

enum class SuspicionKind {
  failed,     // a job failed, timed out, or missed a bound of the suite
  wrong,      // a wrong result
  slower,     // worse than the history of the host
  cpu_quota,  // a CPU quota that earlier runs did not have withholds the CPU
  unchecked,  // not measured for too long
};

enum class SuspicionState {
  suspect,    // seen once
  confirmed,  // reproduced
  dropped,    // not reproduced
  unsettled,  // reruns inconclusive
};

std::string_view to_string(SuspicionKind kind);
std::string_view to_string(SuspicionState state);

/// Values are in the base unit of `unit`, medians of runs; kNoValue for none.
struct NightFinding {
  SuspicionKind kind = SuspicionKind::failed;
  SuspicionState state = SuspicionState::suspect;
  std::string host;            // name in the plan
  std::string host_name = {};  // own host name
  std::string case_name, probe, device;
  std::string metric;  // empty for a job
  Json params = Json::object();
  Unit unit = Unit::count;
  Better better = Better::none;
  double value = kNoValue;              // of the night
  double expected = kNoValue;           // center of the history
  double p = kNoValue;                  // p-value of the night, or of the reruns once they ran
  std::vector<double> again = {};       // of the reruns
  std::string peer = {};                // ran next to it
  std::vector<double> peer_again = {};  // of its reruns
  std::string run = {}, job = {};       // source of the suspicion
  /// Other checks of the host that night without a suspicion, as check_name().
  std::vector<std::string> also_ran = {};
  std::string text = {};       // reason for the state
  std::string next_step = {};  // what to do
};

/// A series of a host over its runs.
struct NightTrend {
  std::string host, case_name, metric, device;
  Json params = Json::object();
  Better better = Better::none;
  double threshold = kNoValue;    // its tolerance, a share
  std::vector<double> past = {};  // values of earlier runs, oldest first
  double value = kNoValue;        // of the night; kNoValue if other work disturbed it
};

/// "gemm on cuda"
std::string check_name(const std::string& probe, const std::string& device);

/// value / expected - 1; kNoValue if either is missing.
double effect(const NightFinding& finding);
/// Relative loss of `value` against `expected`: 0.05 is 5 % worse in the direction of the metric;
/// without a direction, the absolute difference.
double loss_of(double value, double expected, Better better);

Json to_json(const NightFinding& finding);
/// Lenient, as for all records: missing or damaged fields stay empty.
NightFinding finding_from_json(const Json& json);

}  // namespace bench
