// systems/SYSTEM.json of a submission: the submitter's description of the system. Counts are
// numbers or numeric strings, and unknown values are "".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace bench::mlperf {

/// All strings are untrusted: print them with printable().
struct SystemDescription {
  std::string submitter = {}, division = {}, status = {}, system_name = {};
  std::string framework = {}, operating_system = {};
  std::string processor = {}, accelerator = {};  // model names
  std::optional<std::int64_t> nodes = {}, processors_per_node = {}, accelerators_per_node = {};
  Json fields = Json::object();  // as in the file

  /// Of the whole system, at most 10^9; empty if a count is missing or zero.
  std::optional<std::int64_t> accelerators() const;
};

/// Throws Error(input) with `origin` if the text is not a JSON object, is nested deeper than
/// kMaxJsonDepth, or is longer than 1 MiB. The last of duplicate keys counts, as in the official
/// tools.
SystemDescription system_description(std::string_view text, const std::string& origin);
/// Also throws Error(environment) for an unreadable file.
SystemDescription read_system_description(const std::filesystem::path& path);
SystemDescription system_description(Json fields);

/// The required fields in the order of the official checker (system_desc_checker, 33 fields), and
/// the valid values of `status` since round 4.0.
const std::vector<std::string>& system_fields();
const std::vector<std::string>& system_statuses();

}  // namespace bench::mlperf
