// Fuzzes files of published reference convergence points: rejected with an Error, or usable for a
// convergence test.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "mlperf/rcp/rcp_files.h"
#include "mlperf/rcp/rcp_set.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;
using bench::mlperf::RcpSet;
using bench::mlperf::RcpTest;

void try_test(const RcpSet& set, double batch) {
  const double like = set.points.front().mean;
  for (const double share : {0.5, 0.99, 1.0, 1.5}) {
    const RcpTest test = rcp_test(set, batch, std::vector<double>(5, share * like));
    demand(!test.pass || std::isfinite(test.mean), "a mean that is none passes");
    demand(test.factor >= 1.0, "a factor makes a score faster");
    demand(test.pass || test.factor == 1.0, "a failed test scales");
    bench::dump(to_json(test));
  }
}

void try_points(const std::string& text) try {
  RcpSet set{.ruleset = "5.1.0", .benchmark = "flux1", .runs = 10, .unit = "samples"};
  set.points = published_points(bench::parse_json(text, "fuzz"), set, "fuzz");
  prune(set);
  for (const bench::mlperf::RcpPoint& point : set.points) try_test(set, point.batch * 1.25);
  try_test(set, set.points.front().batch);
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_points(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
