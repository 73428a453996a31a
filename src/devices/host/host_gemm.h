// GEMMs on the CPU by the best library that this machine has.
#pragma once

#include <memory>

#include "devices/gemm.h"
#include "devices/host/host_cpus.h"
#include "devices/host/thread_watch.h"

namespace bench {

/// Uses oneDNN, or where it has no GEMM OpenBLAS or BLIS, unless a library found at run time
/// (found_library.h) is faster in a trial (gemm_choice.h).
std::unique_ptr<Gemm> make_host_gemm(const HostCpus& cpus, HostThreadWatch& watch);

}  // namespace bench
