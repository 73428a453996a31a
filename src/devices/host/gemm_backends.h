// The matrix libraries of the host, each made by the file of its name. Where a library was left out
// at build its function says so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "devices/gemm.h"
#include "devices/host/host_cpus.h"
#include "devices/host/thread_watch.h"

namespace bench {

std::unique_ptr<Gemm> make_host_gemm(const HostCpus& cpus, HostThreadWatch& watch);

GemmOffer make_onednn_gemm(const GemmRequest& request, const std::vector<int>& cores,
                           HostThreadWatch& watch);
GemmOffer make_openblas_gemm(const GemmRequest& request, const std::vector<int>& cores,
                             HostThreadWatch& watch);
GemmOffer make_blis_gemm(const GemmRequest& request, const std::vector<int>& cores,
                         HostThreadWatch& watch);
/// The versions, with what OpenBLAS and BLIS chose for this CPU ("0.9.0 (skx)"); null where a
/// library was left out.
Json onednn_version();
Json openblas_version();
Json blis_version();
/// BLIS where it is more than a tenth faster here than OpenBLAS at a product of 512, else OpenBLAS:
/// which of them knows the CPU is not told by their versions. Takes some tens of milliseconds.
GemmOffer make_faster_blas_gemm(const GemmRequest& request, const std::vector<int>& cores,
                                HostThreadWatch& watch);

/// The instruction family in a oneDNN implementation's name ("brg:avx512_core_amx_bf16" is amx); ""
/// for a name that tells none.
std::string onednn_isa(const std::string& implementation);
/// The family an OpenBLAS kernel set is written for ("SkylakeX" is avx512); "" for an unknown one.
std::string openblas_isa(const std::string& core_name);
/// The family of a BLIS configuration ("skx" is avx512); "" for an unknown one.
std::string blis_isa(const std::string& architecture);
/// Whether an implementation of family `used` may serve a request for `isa`.
bool allowed_isa(const std::string& isa, const std::string& used);

/// Bytes of a dense matrix.
std::size_t bytes_of(Dtype dtype, std::int64_t rows, std::int64_t columns);

}  // namespace bench
