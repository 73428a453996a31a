// What a night found of one host: first a suspicion, then, after the same was run again at once, a
// verdict. Findings are kept in the run as events (kFindingEvent), so that a database made anew
// knows them.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/units.h"
#include "results/json_fields.h"

namespace bench {

inline constexpr const char* kFindingEvent = "nightly_finding";

enum class SuspicionKind {
  failed,     // a job failed, timed out, or missed a bound of the suite
  wrong,      // a result that cannot be right
  slower,     // worse than this host's own history
  unchecked,  // nothing of this host was measured for too long
};

enum class SuspicionState {
  suspect,    // seen once
  confirmed,  // it came again
  dropped,    // it did not come again
  unsettled,  // the re-runs could not say
};

std::string_view to_string(SuspicionKind kind);
std::string_view to_string(SuspicionState state);

/// Values are in the base unit of `unit`, medians of runs; kNoValue where there is none.
struct NightFinding {
  SuspicionKind kind = SuspicionKind::failed;
  SuspicionState state = SuspicionState::suspect;
  std::string host;            // as the plan names it
  std::string host_name = {};  // as it names itself
  std::string case_name, probe, device;
  std::string metric;  // empty where it is about the job
  Json params = Json::object();
  Unit unit = Unit::count;
  Better better = Better::none;
  double value = kNoValue;     // of the night
  double expected = kNoValue;  // centre of the history
  double p = kNoValue;         // chance of such a night, and of such re-runs once there are some
  std::vector<double> again = {};       // of the re-runs
  std::string peer = {};                // ran beside it
  std::vector<double> peer_again = {};  // of its re-runs
  std::string run = {}, job = {};       // that raised the suspicion
  /// Other checks of the host that night that raised none, as check_name() says them.
  std::vector<std::string> also_ran = {};
  std::string text = {};    // why it has this state
  std::string next_step = {};  // what would settle it
};

/// "gemm on cuda"
std::string check_name(const std::string& probe, const std::string& device);

/// value / expected - 1, so that below zero is less; kNoValue where either is missing.
double effect(const NightFinding& finding);
/// How much worse `value` is than `expected`, as a share: 0.05 is 5 % worse whichever way the
/// metric improves; of a metric without a direction the size of the difference.
double loss_of(double value, double expected, Better better);

Json to_json(const NightFinding& finding);
/// Lenient, as all that is read from runs: what is missing or damaged stays empty.
NightFinding finding_from_json(const Json& json);

}  // namespace bench
