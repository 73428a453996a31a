// Builds systems/SYSTEM.json from the facts read on the hosts of a run. It contains nothing else;
// fields to fill in by hand are listed with the reason.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/run/run_summary.h"

namespace bench::mlperf {

struct TodoItem {
  std::string what;  // a field of the description, or a file of the package
  std::string why;
};

/// Values that cannot be read from a host.
struct SystemOptions {
  std::string submitter = {}, division = "open", status = {}, system_name = {};
  std::string framework = {};  // "": the training program with its version
  /// Further fields, or replacements for read values; these count as filled in.
  std::map<std::string, std::string> fields = {};
};

struct DescribedSystem {
  Json fields = Json::object();  // all fields that the official checker requires, as strings
  std::vector<TodoItem> todo = {};
};

/// `machines`: the training hosts with topics "host", "topology" and "gpus", as far as a probe read
/// them (results/run/machines.h). If hosts differ in a field, it lists all values and is marked
/// to fill in. `programs`: as listed by machines.h.
DescribedSystem describe_system(std::span<const Machine> machines, const Json& programs,
                                const SystemOptions& words);

}  // namespace bench::mlperf
