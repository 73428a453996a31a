#include <cstring>

#include "probes/backends/host/clock.h"
#include "probes/backends/host/gemm_backends.h"
#include "probes/backends/host/gemm_memory.h"
#include "probes/backends/host/gemm_threads.h"

#ifdef BENCH_OPENBLAS
#include <cblas.h>

#include "core/error.h"
#include "probes/libraries.h"

namespace bench {
namespace {

class OpenBlasPlan final : public GemmPlan {
 public:
  OpenBlasPlan(const GemmRequest& request, const std::vector<int>& cores, HostThreadWatch& watch)
      : dtype_(request.dtype),
        m_(static_cast<blasint>(request.shape.m)),
        n_(static_cast<blasint>(request.shape.n)),
        k_(static_cast<blasint>(request.shape.k)),
        threads_(cores, watch),
        a_(bytes_of(dtype_, m_, k_)),
        b_(bytes_of(dtype_, k_, n_)),
        c_(bytes_of(dtype_, m_, n_)) {
    openblas_set_num_threads(request.threads);
  }

  std::string library() const override { return "openblas"; }
  std::string version() const override { return host_library_versions().at("openblas"); }
  std::string implementation() const override { return openblas_get_corename(); }
  std::string isa() const override { return openblas_isa(openblas_get_corename()); }
  bool packed() const override { return false; }
  Dtype output() const override { return dtype_; }

  void load(std::span<const std::byte> a, std::span<const std::byte> b) override {
    if (a.size() != a_.bytes().size() || b.size() != b_.bytes().size())
      throw Error(ErrorKind::internal, "matrices of another size than the product's");
    std::memcpy(a_.data(), a.data(), a.size());
    std::memcpy(b_.data(), b.data(), b.size());
  }
  void clear() override { std::memset(c_.data(), 0xff, c_.bytes().size()); }

  void run(std::int64_t calls) override {
    for (; calls > 0; --calls) {
      if (dtype_ == Dtype::f64)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1.0, a_.as<double>(), k_,
                    b_.as<double>(), n_, 0.0, c_.as<double>(), n_);
      else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1.0f, a_.as<float>(), k_,
                    b_.as<float>(), n_, 0.0f, c_.as<float>(), n_);
    }
  }

  std::vector<std::byte> result() const override { return {c_.bytes().begin(), c_.bytes().end()}; }
  std::optional<Hertz> clock() override { return vector_clock(isa()); }

 private:
  Dtype dtype_;
  blasint m_, n_, k_;
  LibraryThreads threads_;
  MatrixMemory a_, b_, c_;
};

}  // namespace

GemmOffer make_openblas_gemm(const GemmRequest& request, const std::vector<int>& cores,
                             HostThreadWatch& watch) {
  if (request.dtype != Dtype::f64 && request.dtype != Dtype::f32)
    return {nullptr, "OpenBLAS has no " + std::string(to_string(request.dtype)) + " product"};
  const std::string core = openblas_get_corename();
  if (!allowed_isa(request.isa, openblas_isa(core)))
    return {nullptr, "OpenBLAS chose its kernels for " + core + ", which are not " + request.isa +
                         ": set OPENBLAS_CORETYPE in the case's env"};
  if (openblas_get_parallel() == 0 && request.threads > 1)
    return {nullptr, "this OpenBLAS was built for one thread"};
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
