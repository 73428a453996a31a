// benchctl mlperf check --follow FILE: follow the log of a running training.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace bench {

struct FollowOptions {
  std::filesystem::path path = {};
  std::filesystem::path rule_sets = {};  // folder of the rule sets
  std::string rule_set = "auto";         // or a version
  bool warnings_are_errors = false;      // for the final verdict
  bool json = false;                     // one object per line (schemas/report_mlperf_follow.json)
};

/// Prints each change until the run stops, then the official verdict on the whole log: ok or
/// failed; interrupted after Ctrl-C.
ExitCode follow_run(const FollowOptions& options);

}  // namespace bench
