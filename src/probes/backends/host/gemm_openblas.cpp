#include "probes/backends/host/gemm_backends.h"

#ifdef BENCH_OPENBLAS
#include <cblas.h>

#include "probes/backends/host/gemm_blas_plan.h"

namespace bench {
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
    return {nullptr, "OpenBLAS has no " + std::string(to_string(request.dtype)) + " product"};
  const std::string core = openblas_get_corename();
  if (!allowed_isa(request.isa, openblas_isa(core)))
    return {nullptr, "OpenBLAS selected kernels for " + core + ", not " + request.isa +
                         ": set OPENBLAS_CORETYPE in the case's env"};
  if (openblas_get_parallel() == 0 && request.threads > 1)
    return {nullptr, "this OpenBLAS was built without threads"};
  return {std::make_unique<OpenBlasPlan>(request, cores, watch), ""};
}

}  // namespace bench

#else

namespace bench {

GemmOffer make_openblas_gemm(const GemmRequest&, const std::vector<int>&, HostThreadWatch&) {
  return {nullptr, "built without OpenBLAS"};
}

}  // namespace bench

#endif
