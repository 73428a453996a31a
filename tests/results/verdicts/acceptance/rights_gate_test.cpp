#include "tests/support/catch.h"
#include "tests/support/fleet.h"

using namespace bench;
namespace {

const Json kDenied = {{"unreadable", "no permission to read it"}};

/// Four healthy hosts; the last one lacks permission for these sources.
struct Bounded : Fleet {
  explicit Bounded(const Json& access, const Json& required, bool gpus) : Fleet(4) {
    if (!required.is_null()) run.plan["requires"] = required;
    for (std::size_t h = 0; h < 4; ++h)
      for (const double run_value : {0.999, 1.0, 1.001})
        job("memory_bandwidth.bandwidth", h, 100 * run_value);
    facts(3, "host", {{"access", access}});
    if (gpus) facts(3, "gpus", {{"gpus", {{{"index", 0}, {"ecc", true}}}}});
  }
};

}  // namespace

TEST_CASE("a required fact without read permission makes its host inconclusive, by name") {
  Bounded fleet({{"memory_errors", kDenied}}, {"memory_errors"}, false);
  const Acceptance acceptance = fleet.judge();
  REQUIRE(acceptance.hosts[3].verdict == Verdict::inconclusive);
  REQUIRE(acceptance.hosts[3].reasons.size() == 1);
  const Reason& reason = acceptance.hosts[3].reasons[0];
  CHECK(reason.metric == "memory_errors");
  CHECK(reason.text.find("no permission") != std::string::npos);
  CHECK(reason.next_step.find("edac") != std::string::npos);
  CHECK(acceptance.hosts[0].verdict == Verdict::pass);
}

TEST_CASE("a fact that the suite does not require is only noted") {
  for (const Json& required : {Json(nullptr), Json::array(), Json{"gpu_facts"}}) {
    Bounded fleet({{"memory_errors", kDenied}}, required, false);
    const Acceptance acceptance = fleet.judge();
    CHECK(acceptance.hosts[3].verdict == Verdict::pass);
    REQUIRE(acceptance.hosts[3].notes.size() == 1);
    CHECK(acceptance.hosts[3].notes[0].starts_with("memory_errors: no permission"));
  }
}

TEST_CASE("absent hardware needs no permissions: without a GPU, no kernel log for Xids") {
  const Json access = {{"kernel_log", kDenied},
                       {"pci_configuration", kDenied},
                       {"memory_errors", "none"},
                       {"firmware_tables", "readable"}};
  const Json all = {"kernel_log", "memory_errors", "pci_configuration", "firmware_tables"};
  CHECK(Bounded(access, all, false).judge().verdict == Verdict::pass);
  const Acceptance with_gpu = Bounded(access, all, true).judge();
  REQUIRE(with_gpu.hosts[3].reasons.size() == 2);
  CHECK(with_gpu.hosts[3].reasons[0].metric == "kernel_log");
  CHECK(with_gpu.hosts[3].reasons[0].next_step.find("CAP_SYSLOG") != std::string::npos);
}
