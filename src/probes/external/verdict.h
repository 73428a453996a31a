// The verdict on an external training: how its job ended, whether it converged, and which checks of
// its log fail. It counts as converged only if its own log proves it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/record.h"
#include "probes/external/supervised.h"
#include "probes/external/training_log.h"

namespace bench::external {

/// One command and its end.
struct CommandReport {
  int rank = 0;  // the rank of benchctl that started it
  std::string host;
  CommandEnd end = {};
  std::string last_output = {};
  std::string log = {};  // the file with its output, on its host
  std::size_t lines_cut = 0;
  bool log_incomplete = false;
};

struct FinishedRun {
  std::vector<CommandReport> commands = {};
  bool timed_out = false;  // ended by the deadline
  Seconds deadline = {};
  Seconds clock_tolerance = {1.0};
  std::uint64_t seed = 1;  // as given to it
};

struct TrainingCheck {
  std::string check;
  bool held = true;
  std::string text;
};

struct Verdict {
  Status status = Status::ok;  // of the job: ok, failed, timed_out; invalid where a check fails
  std::string reason = {};
  bool converged = false;
  std::string why_not = {};  // why it has not converged
  std::vector<TrainingCheck> checks = {};
};

Verdict judge(const TrainingLog& log, const FinishedRun& run);

}  // namespace bench::external
