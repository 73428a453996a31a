// Rule sets before their expressions are read: JSON with everything that a file is based on.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "core/json.h"
#include "results/mlperf/rules/rule_set.h"

namespace bench::mlperf {

/// The files of a folder, each read once.
class RuleSetFiles {
 public:
  explicit RuleSetFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The file of a version over those it is based on, each checked against its schema; sections
  /// that are like another one hold its keys too. Throws Error(input).
  Json whole(const std::string& version);

 private:
  const Json& descended(const std::string& version, int depth);

  std::filesystem::path folder_;
  std::map<std::string, Json> known_ = {};
};

/// Throws Error(input) naming section, key and place.
RuleSet rule_set_from_json(const Json& json, const std::string& origin);

}  // namespace bench::mlperf
