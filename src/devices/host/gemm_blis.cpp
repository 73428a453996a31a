#include "devices/host/gemm_backends.h"

#ifdef BENCH_BLIS
#include <blis.h>

#include <cstdlib>

#include "devices/host/cpu_features.h"
#include "devices/host/gemm_blas_plan.h"

namespace bench {
namespace {

/// BLIS recognises CPUs by model and runs plain C on newer ones (Zen 5, for 0.9.0). For Intel's it
/// finds out by the product's name whether a core has two units of AVX-512, and takes Haswell's
/// kernels where a virtual machine hides the name. Sets the configuration for the instructions,
/// unless the user chose one, before BLIS detects the CPU, which it does once.
void choose_for_unknown_cpu() {
#if defined(__x86_64__) && defined(BLIS_CONFIG_SKX) && defined(BLIS_CONFIG_HASWELL)
  const arch_t found = bli_cpuid_query_id();
  const CpuFeatures& cpu = cpu_features();
  const bool has_two_units = cpu.avx512 && issue_rates(cpu).fma512 == 2.0;
  if (found != BLIS_ARCH_GENERIC && !(found == BLIS_ARCH_HASWELL && has_two_units)) return;
  const int chosen = cpu.avx512     ? BLIS_ARCH_SKX
                     : cpu.avx2_fma ? BLIS_ARCH_HASWELL
                                    : BLIS_ARCH_GENERIC;
  constexpr int kKeepExisting = 0;
  setenv("BLIS_ARCH_TYPE", std::to_string(chosen).c_str(), kKeepExisting);
#endif
}

/// The configuration in use: "skx", "zen3".
std::string architecture() {
  static const std::string name = [] {
    choose_for_unknown_cpu();
    bli_init();  // the query aborts without it
    return std::string(bli_arch_string(bli_arch_query_id()));
  }();
  return name;
}

/// Uses the native interface: its CBLAS has the same names as that of OpenBLAS.
class BlisPlan final : public BlasPlan {
 public:
  BlisPlan(const GemmRequest& request, const std::vector<int>& cores, HostThreadWatch& watch)
      : BlasPlan(request, cores, watch) {
    bli_thread_set_num_threads(request.threads);
  }

  std::string library() const override { return "blis"; }
  std::string version() const override { return blis_version(); }
  std::string implementation() const override { return architecture(); }
  std::string isa() const override { return blis_isa(architecture()); }

 private:
  void multiply() override {
    if (dtype_ == Dtype::f64)
      call<double>(bli_dgemm);
    else
      call<float>(bli_sgemm);
  }

  /// Row major: column stride 1, row stride the row length.
  template <class T, class Function>
  void call(Function gemm) {
    const auto [m, n, k] = shape_;
    T one = 1, zero = 0;
    gemm(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, m, n, k, &one, a_.as<T>(), k, 1, b_.as<T>(), n, 1,
         &zero, c_.as<T>(), n, 1);
  }
};

}  // namespace

Json blis_version() {
  return std::string(bli_info_get_version_str()) + " (" + architecture() + ")";
}

GemmOffer make_blis_gemm(const GemmRequest& request, const std::vector<int>& cores,
                         HostThreadWatch& watch) {
  if (request.dtype != Dtype::f64 && request.dtype != Dtype::f32)
    return {nullptr, "BLIS has no " + std::string(to_string(request.dtype)) + " GEMM"};
  if (!allowed_isa(request.isa, blis_isa(architecture())))
    return {nullptr, "BLIS selected kernels for " + architecture() + ", not " + request.isa +
                         ": set BLIS_ARCH_TYPE in the case's env"};
  if (bli_info_get_enable_openmp() == 0 && request.threads > 1)
    return {nullptr, "this BLIS was built without OpenMP"};
  return {std::make_unique<BlisPlan>(request, cores, watch), ""};
}

}  // namespace bench

#else

namespace bench {

Json blis_version() { return nullptr; }

GemmOffer make_blis_gemm(const GemmRequest&, const std::vector<int>&, HostThreadWatch&) {
  return {nullptr, "built without BLIS"};
}

}  // namespace bench

#endif
