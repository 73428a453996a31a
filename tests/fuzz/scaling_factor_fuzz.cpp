// Hostile scaling.json of a submission: refused with an Error, or a factor that a score survives.
#include <cmath>
#include <cstdint>

#include "mlperf/score/entry_score.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  static const fuzz::InputFolder folder;
  const auto path = folder.write("scaling.json", {reinterpret_cast<const char*>(data), size});
  fuzz::may_refuse([&] {
    const double factor = mlperf::read_scaling_factor(path);
    fuzz::demand(std::isfinite(factor) && factor > 0.0, "a factor that is none");
  });
  return 0;
}
