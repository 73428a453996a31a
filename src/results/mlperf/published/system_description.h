// systems/SYSTEM.json of a submission: what was measured on, in its submitter's own words. Counts
// stand there as numbers or as texts of numbers, and what is not known as "".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "results/mlperf/finding.h"

namespace bench::mlperf {

/// All texts are from outside: print them with printable().
struct SystemDescription {
  std::string submitter = {}, division = {}, status = {}, system_name = {};
  std::string framework = {}, operating_system = {};
  std::string processor = {}, accelerator = {};  // names of models
  std::optional<std::int64_t> nodes = {}, processors_per_node = {}, accelerators_per_node = {};
  Json fields = Json::object();  // as they stand there

  /// Of the whole system, at most 10^9; nothing where a count is missing or there are none.
  std::optional<std::int64_t> accelerators() const;
};

/// Throws Error(input) naming `origin`: no JSON object, deeper than kMaxJsonDepth levels, or longer
/// than 1 MiB. A key given twice: the last one counts, as for the official tools.
SystemDescription system_description(std::string_view text, const std::string& origin);
/// Also throws Error(environment) for a file that cannot be read.
SystemDescription read_system_description(const std::filesystem::path& path);
SystemDescription system_description(Json fields);

/// What must be there, in the order of the official checker (system_desc_checker, 33 fields), and
/// the values that `status` may have since round 4.0.
const std::vector<std::string>& system_fields();
const std::vector<std::string>& system_statuses();

/// Missing fields and a wrong status (official); counts that are none, another division than closed
/// or open, and texts that a person was to replace (strict).
std::vector<Finding> check_system_description(const SystemDescription& system);

}  // namespace bench::mlperf
