// Hostile fault catalogues: refused with an Error, or chances from 0 to 1.
#include <cmath>
#include <cstdint>

#include "core/json.h"
#include "core/locations.h"
#include "core/schema.h"
#include "results/verdicts/nightly/fault_catalogue.h"
#include "tests/fuzz/demand.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  static const Schema schema = Schema::load(schema_path("faults"));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto demand_chance = [](double chance, const std::string& what) {
    fuzz::demand(chance >= 0.0 && chance <= 1.0, what);
  };
  fuzz::may_refuse([&] {
    const FaultCatalogue catalogue =
        fault_catalogue(schema.check(parse_json(text, "fuzz"), "fuzz"), "fuzz");
    for (const char* device : {"host", "cuda"})
      for (const auto& [fault, chance] : catalogue.finds("gemm", device))
        demand_chance(chance, "a chance of " + fault);
    for (const FaultKind& kind : catalogue.faults)
      for (const double age : {0.0, 1e5, HUGE_VAL})
        demand_chance(
            fault_chance(kind.prior, {.found = 1, .checked = 9, .watched_s = 1e6, .age_s = age}),
            "a prior of " + kind.name);
  });
  return 0;
}
