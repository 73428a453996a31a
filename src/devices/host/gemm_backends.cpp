#include "devices/host/gemm_backends.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/locations.h"
#include "core/text.h"
#include "devices/device.h"
#include "devices/gemm.h"
#include "devices/host/cpu_features.h"
#include "devices/host/gemm_blas_plan.h"

#ifdef BENCH_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif
#ifdef BENCH_OPENBLAS
#include <cblas.h>
#endif
#ifdef BENCH_HWLOC
#include <hwloc.h>
#endif

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
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... SkylakeX MAX_THREADS=64"
  const auto words = words_of(std::string_view(openblas_get_config()));
  return std::string(words.at(1)) + " (" + openblas_get_corename() + ")";
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

#ifdef BENCH_OPENBLAS

namespace {

class OpenBlasPlan final : public BlasPlan {
 public:
  OpenBlasPlan(const GemmRequest& request, const std::vector<int>& cores, HostThreadWatch& watch)
      : BlasPlan(request, cores, watch),
        m_(static_cast<blasint>(request.shape.m)),
        n_(static_cast<blasint>(request.shape.n)),
        k_(static_cast<blasint>(request.shape.k)) {
    openblas_set_num_threads(request.threads);
  }

  std::string library() const override { return "openblas"; }
  std::string version() const override { return openblas_version(); }
  std::string implementation() const override { return openblas_get_corename(); }
  std::string isa() const override { return openblas_isa(openblas_get_corename()); }

 private:
  void multiply() override {
    if (dtype_ == Dtype::f64)
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1.0, a_.as<double>(), k_,
                  b_.as<double>(), n_, 0.0, c_.as<double>(), n_);
    else
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1.0f, a_.as<float>(), k_,
                  b_.as<float>(), n_, 0.0f, c_.as<float>(), n_);
  }

  blasint m_, n_, k_;
};

}  // namespace

GemmOffer make_openblas_gemm(const GemmRequest& request, const std::vector<int>& cores,
                             HostThreadWatch& watch) {
  if (request.dtype != Dtype::f64 && request.dtype != Dtype::f32)
    return {nullptr, "OpenBLAS has no " + std::string(to_string(request.dtype)) + " GEMM"};
  const std::string core = openblas_get_corename();
  if (!allowed_isa(request.isa, openblas_isa(core)))
    return {nullptr, "OpenBLAS selected kernels for " + core + ", not " + request.isa +
                         ": set OPENBLAS_CORETYPE in the case's env"};
  if (openblas_get_parallel() == 0 && request.threads > 1)
    return {nullptr, "this OpenBLAS was built without threads"};
  return {std::make_unique<OpenBlasPlan>(request, cores, watch), ""};
}

#else

GemmOffer make_openblas_gemm(const GemmRequest&, const std::vector<int>&, HostThreadWatch&) {
  return {nullptr, "built without OpenBLAS"};
}

#endif

namespace {

bool starts_with_any(const std::string& text, std::initializer_list<const char*> beginnings) {
  return std::ranges::any_of(beginnings, [&](const char* b) { return text.starts_with(b); });
}

}  // namespace

std::string onednn_isa(const std::string& implementation) {
  for (const char* family : {"amx", "avx512", "avx2"})
    if (implementation.find(family) != std::string::npos) return family;
  return "";
}

std::string openblas_isa(const std::string& core_name) {
  if (starts_with_any(core_name, {"SkylakeX", "Cooperlake", "SapphireRapids"})) return "avx512";
  if (starts_with_any(core_name, {"Haswell", "Zen", "Excavator"})) return "avx2";
  if (starts_with_any(core_name, {"ARMV8", "Cortex", "Neoverse", "THUNDERX", "TSV", "neoverse",
                                  "armv8", "cortex", "thunderx", "tsv"}))
    return "neon";
  return "";
}

std::string better_openblas_kernels(const std::string& chosen, const CpuFeatures& cpu) {
  // A name that is not listed is a newer one.
  constexpr std::array kBeforeAvx2{"Katmai",       "Coppermine", "Northwood",  "Prescott",
                                   "Banias",       "Core2",      "Penryn",     "Dunnington",
                                   "Nehalem",      "Atom",       "Athlon",     "Opteron",
                                   "Opteron_SSE3", "Barcelona",  "Bobcat",     "Nano",
                                   "Sandybridge",  "Bulldozer",  "Piledriver", "Steamroller"};
  constexpr std::array kOfAvx2{"Haswell", "Excavator", "Zen"};
  const bool before = std::ranges::find(kBeforeAvx2, chosen) != kBeforeAvx2.end();
  const bool of_avx2 = std::ranges::find(kOfAvx2, chosen) != kOfAvx2.end();
  if (cpu.avx512) return before || of_avx2 ? "SkylakeX" : "";
  return cpu.avx2_fma && before ? "Haswell" : "";
}

void restart_with_right_openblas([[maybe_unused]] char** argv) {
#if defined(BENCH_OPENBLAS) && defined(__x86_64__)
  constexpr const char *kVariable = "OPENBLAS_CORETYPE", *kSecondStart = "BENCHCTL_SECOND_START";
  const auto forget = [] {
    unsetenv(kVariable);
    unsetenv(kSecondStart);
  };
  if (std::getenv(kSecondStart) != nullptr) return forget();  // OpenBLAS has read it
  if (std::getenv(kVariable) != nullptr) return;
  const std::string better = better_openblas_kernels(openblas_get_corename(), cpu_features());
  if (better.empty()) return;
  const std::string path = program_path().string();
  setenv(kVariable, better.c_str(), 1);
  setenv(kSecondStart, "1", 1);
  execv(path.c_str(), argv);
  forget();
#endif
}

std::string blis_isa(const std::string& architecture) {
  if (starts_with_any(architecture, {"skx", "knl", "zen4", "zen5"})) return "avx512";
  if (starts_with_any(architecture, {"haswell", "zen", "excavator"})) return "avx2";
  if (starts_with_any(architecture, {"cortexa57", "cortexa53", "thunderx2", "firestorm"}))
    return "neon";
  return "";
}

bool allowed_isa(const std::string& isa, const std::string& used) {
  if (isa == "best" || isa == used) return true;
  constexpr std::array kOrder{"avx2", "avx512", "amx"};
  const auto asked = std::ranges::find(kOrder, isa), have = std::ranges::find(kOrder, used);
  return asked != kOrder.end() && have < asked;
}

std::size_t bytes_of(Dtype dtype, std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * size_of(dtype);
}

}  // namespace bench
