// GEMMs with the common libraries, as a share of the peak rate of the instructions
// (docs/measuring.md).
#include "devices/gemm.h"

#include <algorithm>

#include "core/json.h"
#include "probes/probe.h"
#include "probes/shared/gemm_search.h"
#include "probes/shared/thread_counts.h"
#include "probes/state.h"

namespace bench {
namespace {

void measure_dtype(State& state, Gemm& gemm, Dtype dtype) {
  const std::vector<int> threads = thread_counts(state);
  for (const auto& shape : state.list<std::vector<std::int64_t>>("shapes"))
    for (const int count : threads)
      measure_product(state, gemm, {dtype, {shape.at(0), shape.at(1), shape.at(2)}, count});
  const Seconds budget{state.number("search_s")};
  if (!(budget.value > 0.0)) return;
  for (const int count : threads)
    if (const auto found = search_shape(state, gemm, dtype, count, budget))
      measure_product(state, gemm, *found);
}

/// Trials for requests of this job: those of earlier jobs in the process stay known.
Json trials_of(State& state, const Gemm& gemm) {
  const auto dtypes = state.list<std::string>("dtypes");
  const std::vector<int> threads = thread_counts(state);
  Json own = Json::array();
  for (const Json& trial : gemm.trials())
    if (std::ranges::find(dtypes, trial.at("dtype").get<std::string>()) != dtypes.end() &&
        std::ranges::find(threads, trial.at("threads").get<int>()) != threads.end() &&
        trial.at("isa") == state.text("isa") && trial.at("packed") == state.flag("packed") &&
        trial.at("library") == state.text("library"))
      own.push_back(trial);
  return own;
}

void run_gemm(State& state) {
  Gemm* gemm = state.device().gemm();
  if (gemm == nullptr) return state.skip("no GEMM library for this device");
  for (const auto& name : state.list<std::string>("dtypes"))
    measure_dtype(state, *gemm, dtype_from(name));
  const Json trials = trials_of(state, *gemm), problems = gemm->problems();
  if (!trials.empty() || !problems.empty())
    state.facts("gemm_libraries", {{"trials", trials}, {"problems", problems}});
}

const Registration gemm_probe{"gemm", run_gemm};

}  // namespace
}  // namespace bench
