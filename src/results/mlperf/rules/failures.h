// The failures of a log so far. A later section with rules for a key withdraws the earlier failures
// for that key: this is how the official checker lets a benchmark replace a common rule.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/mlperf/finding.h"

namespace bench::mlperf {

/// The official checker ends with a traceback at this point.
struct OfficialCrash : std::runtime_error {
  explicit OfficialCrash(Finding finding)
      : std::runtime_error(finding.text), found(std::move(finding)) {}
  Finding found;
};

class Failures {
 public:
  explicit Failures(bool werror) : werror_(werror) {}

  /// `keyed`: a later section with its key withdraws it.
  void add(Finding finding, bool keyed);
  void warn(Finding finding);
  /// Withdraws the failures of keys for which `replaced` is true.
  void withdraw(const std::function<bool(const std::string&)>& replaced);

  std::vector<Finding> findings() const;
  const std::vector<Finding>& warnings() const { return warnings_; }

 private:
  bool werror_;
  std::vector<std::pair<Finding, bool>> findings_ = {};
  std::vector<Finding> warnings_ = {};
};

}  // namespace bench::mlperf
