// Matrix libraries of the host. The functions of a library that is not compiled in return that as
// the reason.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "devices/gemm.h"
#include "devices/host/cpu_features.h"
#include "devices/host/host_cpus.h"
#include "devices/host/thread_watch.h"

namespace bench {

GemmOffer make_onednn_gemm(const GemmRequest& request, const std::vector<int>& cores,
                           HostThreadWatch& watch);
GemmOffer make_openblas_gemm(const GemmRequest& request, const std::vector<int>& cores,
                             HostThreadWatch& watch);
GemmOffer make_blis_gemm(const GemmRequest& request, const std::vector<int>& cores,
                         HostThreadWatch& watch);
/// Versions, with the kernels that OpenBLAS and BLIS chose for this CPU ("0.9.0 (skx)"); null for a
/// library that is not compiled in.
Json onednn_version();
Json openblas_version();
Json blis_version();
/// The instruction set in a oneDNN implementation's name ("brg:avx512_core_amx_bf16": amx); "" if
/// unknown.
std::string onednn_isa(const std::string& implementation);
/// The instruction set of an OpenBLAS kernel set ("SkylakeX": avx512); "" if unknown.
std::string openblas_isa(const std::string& core_name);
/// The kernels of OpenBLAS for this CPU's instructions, if the chosen ones are known to be for
/// older CPUs; "" if not.
std::string better_openblas_kernels(const std::string& chosen, const CpuFeatures& cpu);
/// Starts the program again with OPENBLAS_CORETYPE, if OpenBLAS has chosen kernels for older CPUs:
/// it chooses when it is loaded, by model, and for one that it does not know those of the oldest
/// (0.3.21 on Emerald Rapids: SSE3). The second start removes the variable, so that neither other
/// builds of OpenBLAS nor children see it. Does nothing if a user has set it, or if the program
/// cannot be started again. Throws as program_path() does.
void restart_with_right_openblas(char** argv);
/// The instruction set of a BLIS configuration ("skx": avx512); "" if unknown.
std::string blis_isa(const std::string& architecture);
/// Whether an implementation for instruction set `used` may serve a request for `isa`.
bool allowed_isa(const std::string& isa, const std::string& used);

/// Bytes of a dense matrix.
std::size_t bytes_of(Dtype dtype, std::int64_t rows, std::int64_t columns);

}  // namespace bench
