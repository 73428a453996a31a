#include "mlperf/finding.h"

#include "tests/support/catch.h"

namespace bench::mlperf {

TEST_CASE("findings are in file order") {
  std::vector<Finding> findings = {
      {.rule = "b", .line = 7}, {.rule = "a", .line = 7}, {.rule = "z"}};
  sort_findings(findings);
  CHECK(findings[0].rule == "z");
  CHECK(findings[1].rule == "a");
  CHECK(findings[2].rule == "b");
}

TEST_CASE("a finding records whether the official checker has it too") {
  const Json json = to_json(
      {.rule = "required.run_stop", .severity = Severity::warning, .official = true, .line = 3});
  CHECK(json["severity"] == "warning");
  CHECK(json["official"] == true);
  CHECK(json["line"] == 3);
}

}  // namespace bench::mlperf
