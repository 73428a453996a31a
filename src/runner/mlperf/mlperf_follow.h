// benchctl mlperf check --follow FILE: a running training, by its log.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace bench {

struct FollowOptions {
  std::filesystem::path path = {};
  std::filesystem::path rule_sets = {};  // folder of the rule sets
  std::string rule_set = "auto";         // or a version
  bool warnings_are_errors = false;      // in the verdict at the end
  bool json = false;                     // one object a line (schemas/report_mlperf_follow.json)
};

/// Tells each change until the run stops, then the official verdict on the whole log: ok or failed.
/// Interrupted: ^C.
ExitCode follow_run(const FollowOptions& options);

}  // namespace bench
