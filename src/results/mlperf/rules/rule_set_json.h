// Loads rule set files as JSON, merged with the files they are based on.
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

  /// The file of a version merged with its bases, each validated against the schema, with the keys
  /// of base sections resolved. Throws Error(input).
  Json whole(const std::string& version);

 private:
  const Json& descended(const std::string& version, int depth);

  std::filesystem::path folder_;
  std::map<std::string, Json> known_ = {};
};

/// Throws Error(input) with section, key and position.
RuleSet rule_set_from_json(const Json& json, const std::string& origin);

}  // namespace bench::mlperf
