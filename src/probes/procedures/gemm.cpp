// Matrix products by the libraries people use, as a share of what the cores' instructions can do.
// docs/measuring.md says what is counted.
#include "probes/device/gemm.h"

#include "probes/probe.h"
#include "probes/procedures/gemm_series.h"
#include "probes/procedures/thread_counts.h"
#include "probes/state.h"

namespace bench {
namespace {

void run_gemm(State& state) {
  Gemm* gemm = state.device().gemm();
  if (gemm == nullptr) return state.skip("this device has no matrix library");
  for (const auto& name : state.list<std::string>("dtypes"))
    for (const auto& shape : state.list<std::vector<std::int64_t>>("shapes"))
      for (const int threads : thread_counts(state))
        measure_product(state, *gemm,
                        {dtype_from(name), {shape.at(0), shape.at(1), shape.at(2)}, threads});
}

const Registration registration{{
    .name = "gemm",
    .summary = "matrix products by oneDNN, OpenBLAS and cuBLASLt, verified",
    .metrics = {{"throughput", Unit::flop_per_second, Better::higher},
                {"per_cycle", Unit::count, Better::higher}},
    .run = run_gemm,
}};

}  // namespace
}  // namespace bench
