// systems/SYSTEM.json from what was read on the hosts of a run: only what was read stands in it,
// and what a person must still fill in is named with the reason.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/run_summary.h"

namespace bench::mlperf {

struct TodoItem {
  std::string what;  // a field of the description, or a file of the package
  std::string why;
};

/// What no machine can say of itself.
struct SystemOptions {
  std::string submitter = {}, division = "open", status = {}, system_name = {};
  std::string framework = {};  // "" : the program that trained, with its version
  /// Further fields, or other words for what was read; these count as filled in.
  std::map<std::string, std::string> fields = {};
};

struct DescribedSystem {
  Json fields = Json::object();  // all that the official checker asks for, texts
  std::vector<TodoItem> todo = {};
};

/// `machines`: the hosts that trained, with topics "host", "topology" and "gpus" as far as a probe
/// read them (results/reports/machines.h). Hosts that differ in a field have all its values, and it
/// is to be filled in. `programs`: as machines.h lists them.
DescribedSystem describe_system(std::span<const Machine> machines, const Json& programs,
                                const SystemOptions& words);

}  // namespace bench::mlperf
