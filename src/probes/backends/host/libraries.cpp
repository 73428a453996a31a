#include "probes/libraries.h"

#ifdef BENCH_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif
#ifdef BENCH_OPENBLAS
#include <cblas.h>
#endif
#ifdef BENCH_HWLOC
#include <hwloc.h>
#endif

#include <string>

namespace bench {
namespace {

Json onednn() {
#ifdef BENCH_ONEDNN
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
#else
  return nullptr;
#endif
}

Json openblas() {
#ifdef BENCH_OPENBLAS
  return std::string(openblas_get_config());
#else
  return nullptr;
#endif
}

Json hwloc() {
#ifdef BENCH_HWLOC
  const unsigned version = hwloc_get_api_version();
  return std::to_string(version >> 16) + "." + std::to_string((version >> 8) & 0xff) + "." +
         std::to_string(version & 0xff);
#else
  return nullptr;
#endif
}

}  // namespace

Json host_library_versions() {
  return {{"onednn", onednn()}, {"openblas", openblas()}, {"hwloc", hwloc()}};
}

}  // namespace bench
