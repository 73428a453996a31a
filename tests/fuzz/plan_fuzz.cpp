// Hostile plan.json: the strict reader (`resume`) refuses it with an Error or gives a plan that
// survives being written and read again.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "core/json.h"
#include "runner/plan/plan_json.h"
#include "tests/fuzz/demand.h"

namespace {

void check(const bench::Plan& plan) {
  std::set<std::string> ids;
  for (const bench::PlanEntry& entry : plan.entries) {
    bench::fuzz::demand(ids.insert(entry.job.id).second, "a job is planned twice");
    std::int64_t ranks = 0;
    for (const bench::Place& place : entry.places) ranks += std::max(0, place.ranks);
    bench::fuzz::demand(entry.places.empty() || ranks == entry.job.ranks,
                        "ranks that do not add up: " + entry.job.id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::may_refuse([&] {
    const Plan plan = plan_from_json(parse_json(text, "fuzz"), "fuzz");
    check(plan);
    const std::string written = plan_text(plan);
    fuzz::must_accept("an accepted plan", [&] {
      const Plan again = plan_from_json(parse_json(written, "again"), "again");
      fuzz::demand(plan_text(again) == written, "a plan changes: " + written);
    });
  });
  return 0;
}
