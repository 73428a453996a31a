// Hostile plan.json: the strict reader (`resume`) refuses it with an Error or gives a plan that
// survives being written and read again.
#include <cstdint>

#include "core/json.h"
#include "runner/plan/plan_json.h"
#include "tests/fuzz/demand.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::may_refuse([&] {
    const std::string written = plan_text(plan_from_json(parse_json(text, "fuzz"), "fuzz"));
    fuzz::must_accept("an accepted plan", [&] {
      const Plan again = plan_from_json(parse_json(written, "again"), "again");
      fuzz::demand(plan_text(again) == written, "a plan changes: " + written);
    });
  });
  return 0;
}
