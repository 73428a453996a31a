#include "probes/libraries.h"

#include "probes/backends/host/gemm_backends.h"

#ifdef BENCH_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif
#ifdef BENCH_OPENBLAS
#include <cblas.h>
#endif
#ifdef BENCH_HWLOC
#include <hwloc.h>
#endif

#include <sstream>
#include <string>

namespace bench {
Json onednn_version() {
#ifdef BENCH_ONEDNN
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
#else
  return nullptr;
#endif
}

Json openblas_version() {
#ifdef BENCH_OPENBLAS
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... SkylakeX MAX_THREADS=64": the version and the
  // kernels in use.
  std::istringstream config(openblas_get_config());
  std::string name;
  std::string version;
  config >> name >> version;
  return version + " (" + openblas_get_corename() + ")";
#else
  return nullptr;
#endif
}

namespace {

Json hwloc() {
#ifdef BENCH_HWLOC
  return HWLOC_VERSION;
#else
  return nullptr;
#endif
}

}  // namespace

Json host_library_versions() {
  return {{"onednn", onednn_version()},
          {"openblas", openblas_version()},
          {"blis", blis_version()},
          {"hwloc", hwloc()}};
}

}  // namespace bench
