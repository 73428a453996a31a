// Hostile rule sets, alone or based on those installed: refused with an Error, or a log can be
// checked by them.
#include <cstdint>
#include <optional>

#include "core/json.h"
#include "core/json_fields.h"
#include "mlperf/log/log.h"
#include "mlperf/rules/official_check.h"
#include "mlperf/rules/rule_set.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"

namespace {

using namespace bench;

constexpr const char* kVersion = "99.0.0";
constexpr const char* kLog = R"(
:::MLLOG {"namespace": "", "time_ms": 1700000000000, "event_type": "POINT_IN_TIME", "key": "submission_benchmark", "value": "llama31_8b", "metadata": {"file": "a.py", "lineno": 1}}
:::MLLOG {"namespace": "", "time_ms": 1700000000001, "event_type": "POINT_IN_TIME", "key": "submission_division", "value": "closed", "metadata": {"file": "a.py", "lineno": 2}}
:::MLLOG {"namespace": "", "time_ms": 1700000000002, "event_type": "POINT_IN_TIME", "key": "global_batch_size", "value": 32, "metadata": {"file": "a.py", "lineno": 3}}
:::MLLOG {"namespace": "", "time_ms": 1700000000003, "event_type": "INTERVAL_START", "key": "run_start", "value": null, "metadata": {"file": "a.py", "lineno": 4}}
:::MLLOG {"namespace": "", "time_ms": 1700000000004, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", "value": 3.2, "metadata": {"file": "a.py", "lineno": 5, "samples_count": 12288}}
:::MLLOG {"namespace": "", "time_ms": 1700000000005, "event_type": "INTERVAL_END", "key": "run_stop", "value": null, "metadata": {"file": "a.py", "lineno": 6, "status": "success"}}
)";

/// Without its own version: the file has a name already.
std::string renamed(std::string_view text) {
  auto json = try_parse_json(text);
  if (!json || !json->is_object()) return std::string(text);
  if (json->contains("ruleset")) (*json)["ruleset"] = kVersion;
  return dump(*json);
}

const fuzz::InputFolder& folder_with_installed() {
  static const fuzz::InputFolder folder;
  static const bool copied = [] {
    for (const std::string& version : mlperf::rule_set_versions(mlperf::rule_set_folder()))
      folder.write(version + ".json", read_file(mlperf::rule_set_folder() / (version + ".json")));
    return true;
  }();
  fuzz::demand(copied, "no installed rule sets");
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mlperf::Log log = mlperf::read_log_text(kLog, "log");
  const fuzz::InputFolder& folder = folder_with_installed();
  folder.write(std::string(kVersion) + ".json",
               renamed({reinterpret_cast<const char*>(data), size}));
  fuzz::may_refuse([&] {
    const mlperf::RuleSet rules = mlperf::load_rule_set(folder.path(), kVersion);
    fuzz::demand(rules.version == kVersion, "another version");
    const mlperf::OfficialVerdict verdict = mlperf::official_check(log, rules);
    fuzz::demand(verdict.pass || !verdict.findings.empty(), "fails without a finding");
  });
  return 0;
}
