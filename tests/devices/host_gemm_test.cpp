#include "devices/host/host_gemm.h"

#include "core/error.h"
#include "devices/gemm.h"
#include "devices/host/gemm_backends.h"
#include "probes/shared/gemm_check.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

TEST_CASE("the family is read from the names the libraries give their code") {
  CHECK(onednn_isa("brg:avx512_core_amx_bf16") == "amx");
  CHECK(onednn_isa("brg:avx512_core_vnni") == "avx512");
  CHECK(onednn_isa("jit:avx2") == "avx2");
  CHECK(onednn_isa("gemm:jit") == "");
  CHECK(openblas_isa("SkylakeX") == "avx512");
  CHECK(openblas_isa("Zen") == "avx2");
  CHECK(openblas_isa("neoversev1") == "neon");
  CHECK(openblas_isa("Prescott") == "");
  CHECK(blis_isa("skx") == "avx512");
  CHECK(blis_isa("zen3") == "avx2");
  CHECK(blis_isa("thunderx2") == "neon");
  CHECK(blis_isa("generic") == "");
}

TEST_CASE("OpenBLAS gets the kernels for instructions that it has overlooked") {
  CpuFeatures old, haswell, skylake;
  haswell.avx2_fma = true;
  skylake.avx2_fma = skylake.avx512 = true;
  CHECK(better_openblas_kernels("Prescott", skylake) == "SkylakeX");
  CHECK(better_openblas_kernels("Haswell", skylake) == "SkylakeX");
  CHECK(better_openblas_kernels("SapphireRapids", skylake).empty());
  CHECK(better_openblas_kernels("Prescott", haswell) == "Haswell");
  CHECK(better_openblas_kernels("Zen", haswell).empty());
  CHECK(better_openblas_kernels("Prescott", old).empty());
  CHECK(better_openblas_kernels("Zen", skylake) == "SkylakeX");
  CHECK(better_openblas_kernels("GraniteRapids", skylake).empty());  // not known yet
  CHECK(better_openblas_kernels("Zen5", skylake).empty());
}

TEST_CASE("a request for a family takes that one or a lesser one, never a better or unknown one") {
  CHECK(allowed_isa("best", "amx"));
  CHECK(allowed_isa("best", ""));
  CHECK(allowed_isa("avx512", "avx512"));
  CHECK_FALSE(allowed_isa("avx512", "amx"));
  CHECK_FALSE(allowed_isa("avx512", ""));
  CHECK_FALSE(allowed_isa("neon", "avx2"));
}

struct HostLibraries {
  HostCpus cpus = HostCpus::allowed();
  HostThreadWatch watch;
  std::unique_ptr<Gemm> gemm = make_host_gemm(cpus, watch);
};

TEST_CASE("the libraries' products are exact for integers, whatever the shape, dtype and threads") {
  HostLibraries host;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::int8})
    for (const GemmShape shape : {GemmShape{64, 64, 64}, GemmShape{33, 65, 17}, GemmShape{1, 1, 1}})
      for (const int threads : {1, host.cpus.count()}) {
        const GemmOffer offer =
            host.gemm->prepare({.dtype = dtype, .shape = shape, .threads = threads});
        if (!offer.plan) continue;  // the library was left out at build
        INFO(to_string(dtype) << " " << shape.m << " " << offer.plan->implementation());
        const Matrices x = make_matrices(shape, dtype, MatrixValues::integers, 7);
        offer.plan->load(x.a, x.b);
        offer.plan->clear();
        offer.plan->run(2);
        CHECK(check_exact(x, offer.plan->output(), offer.plan->result()).error == 0.0);
      }
}

TEST_CASE("OpenBLAS and BLIS in turn, on other numbers of threads, do not disturb each other") {
  HostLibraries host;
  const GemmShape shape{130, 70, 33};
  for (const char* library : {"openblas", "blis", "best", "openblas", "blis"})
    for (const Dtype dtype : {Dtype::f64, Dtype::f32})
      for (const int threads : {host.cpus.count(), 1}) {
        const GemmOffer offer = host.gemm->prepare(
            {.dtype = dtype, .shape = shape, .threads = threads, .library = library});
        if (!offer.plan) continue;  // the library was left out at build
        INFO(library << " " << to_string(dtype) << " " << offer.plan->implementation());
        if (std::string(library) != "best") CHECK(offer.plan->library() == library);
        const Matrices x = make_matrices(shape, dtype, MatrixValues::integers, 7);
        offer.plan->load(x.a, x.b);
        offer.plan->clear();
        offer.plan->run(1);
        CHECK(check_exact(x, offer.plan->output(), offer.plan->result()).error == 0.0);
      }
}

TEST_CASE("a plan keeps to the family it was asked for, also after one that did not") {
  HostLibraries host;
  GemmRequest request{.dtype = Dtype::bf16, .shape = {64, 64, 64}, .library = "onednn"};
  const GemmOffer best = host.gemm->prepare(request);
  if (!best.plan || best.plan->isa() != "amx") return;
  request.isa = "avx512";
  const GemmOffer offer = host.gemm->prepare(request);
  REQUIRE(offer.plan);  // every CPU with AMX has AVX-512 with bf16
  CHECK(offer.plan->isa() == "avx512");
  const Matrices x = make_matrices(request.shape, request.dtype, MatrixValues::integers, 7);
  offer.plan->load(x.a, x.b);
  offer.plan->run(1);
  CHECK(check_exact(x, offer.plan->output(), offer.plan->result()).passed());
}

TEST_CASE("a library without the dtype says so") {
  HostLibraries host;
  const GemmOffer offer =
      host.gemm->prepare({.dtype = Dtype::bf16, .shape = {8, 8, 8}, .library = "openblas"});
  CHECK_FALSE(offer.plan);
  CHECK_FALSE(offer.reason.empty());
}

TEST_CASE("a product on more cores than there are is refused") {
  HostLibraries host;
  CHECK_THROWS_AS(host.gemm->prepare(
                      {.dtype = Dtype::f32, .shape = {8, 8, 8}, .threads = host.cpus.count() + 1}),
                  Error);
}

#ifdef BENCH_ONEDNN_FOUND
TEST_CASE("oneDNN is compiled in if the build found it") { CHECK(onednn_version().is_string()); }
#endif
#ifdef BENCH_OPENBLAS_FOUND
TEST_CASE("OpenBLAS is compiled in if the build found it") {
  CHECK(openblas_version().is_string());
}
#endif
#ifdef BENCH_BLIS_FOUND
TEST_CASE("BLIS is compiled in if the build found it") { CHECK(blis_version().is_string()); }
#endif

}  // namespace
}  // namespace bench
