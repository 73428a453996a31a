#include "devices/host/gemm_backends.h"

#ifdef BENCH_BLIS
#include <blis.h>

#include <cstdlib>

#include "devices/host/cpu_features.h"
#include "devices/host/gemm_blas_plan.h"

namespace bench {
namespace {

/// BLIS knows CPUs by their models, and runs plain C on those that came later (Zen 5, for 0.9.0).
/// What the instructions allow is then chosen here, unless the user chose; before BLIS looks, which
/// it does once.
void choose_for_unknown_cpu() {
#if defined(__x86_64__)
  if (bli_cpuid_query_id() != BLIS_ARCH_GENERIC) return;
  const CpuFeatures& cpu = cpu_features();
  const int chosen = cpu.avx512     ? BLIS_ARCH_SKX
                     : cpu.avx2_fma ? BLIS_ARCH_HASWELL
                                    : BLIS_ARCH_GENERIC;
  constexpr int kKeepWhatTheUserSays = 0;
  setenv("BLIS_ARCH_TYPE", std::to_string(chosen).c_str(), kKeepWhatTheUserSays);
#endif
}

/// The configuration in use: "skx", "zen3".
std::string architecture() {
  static const std::string name = [] {
    choose_for_unknown_cpu();
    bli_init();  // else there is nothing yet to choose from, and it aborts
    return std::string(bli_arch_string(bli_arch_query_id()));
  }();
  return name;
}

/// Called by its own interface: its CBLAS has the same names as OpenBLAS's.
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

  /// Row major: neighbours in a row are 1 apart, rows as far as they are long.
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
    return {nullptr, "BLIS has no " + std::string(to_string(request.dtype)) + " product"};
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
