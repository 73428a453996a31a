// Hostile site.json: refused with an Error, or settings of which paths are absolute and prices
// positive.
#include <cmath>
#include <cstdint>

#include "runner/site/site_settings.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  static const fuzz::InputFolder folder;
  const auto path = folder.write("site.json", {reinterpret_cast<const char*>(data), size});
  fuzz::may_refuse([&] {
    const SiteSettings settings = read_site_settings({path});
    fuzz::demand(settings.database.empty() || settings.database.is_absolute(), "a relative path");
    for (const auto& [product, price] : settings.prices)
      fuzz::demand(price > 0.0 && std::isfinite(price), "a price that is none: " + product);
  });
  return 0;
}
