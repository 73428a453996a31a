// Measures nothing and reports the requested values and outcome. It tests the harness, which must
// neither invent nor hide a regression, and measures the overhead of a job.
#include <cmath>
#include <random>

#include "core/error.h"
#include "probes/probe.h"
#include "probes/state.h"

namespace bench {
namespace {

/// `samples` values around `value` with relative deviation `noise`, the same for the same seed.
std::vector<double> known_values(const State& state) {
  const double value = state.number("value");
  const double noise = state.number("noise");
  std::mt19937_64 generator(state.job().seed + static_cast<std::uint64_t>(state.job().repeat));
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<std::size_t>(state.integer("samples")));
  for (double& entry : values) entry = value * std::exp(noise * normal(generator));
  return values;
}

void run_null(State& state) {
  const std::string outcome = state.text("outcome");
  if (outcome == "skipped") return state.skip("skipped as requested");
  if (outcome == "failed") throw Error(ErrorKind::environment, "failed as requested");
  state.values("value", known_values(state));
  if (outcome == "invalid") state.invalid("invalid as requested");
}

const Registration null_probe{"null", run_null};

}  // namespace
}  // namespace bench
