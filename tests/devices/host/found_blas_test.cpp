// BLAS libraries found at run time: where they are looked for, and how products are divided.
#include "devices/host/found_blas.h"

#include <fstream>

#include "core/error.h"
#include "probes/shared/gemm_check.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

void put_file(const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "x";
}

std::vector<std::string> names_in(const std::vector<std::filesystem::path>& paths,
                                  const std::filesystem::path& root) {
  std::vector<std::string> names;
  for (const auto& path : paths) names.push_back(path.lexically_relative(root).string());
  return names;
}

/// The library that this build uses, where the system has it as a shared one.
std::filesystem::path shared_openblas() {
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"})
    if (const auto path = std::filesystem::path(folder) / "libopenblas.so.0";
        std::filesystem::exists(path))
      return path;
  return {};
}

}  // namespace

TEST_CASE("BLAS libraries are found where pip and vendors put them, each file once") {
  const TemporaryDirectory folder;
  const auto& root = folder.path();
  put_file(root / "given.so");
  const std::string pip = "scipy_openblas32/lib/libscipy_openblas.so";
  put_file(root / "env/lib/python3.11/site-packages" / pip);
  put_file(root / "home/.local/lib/python3.12/site-packages/numpy.libs/libscipy_openblas64_-1.so");
  put_file(root / "usr/local/lib/benchctl/blas" / pip);
  put_file(root / "opt/intel/oneapi/mkl/latest/lib/libmkl_rt.so.2");
  put_file(root / "usr/lib/python3/dist-packages/other.so");
  std::filesystem::create_directories(root /
                                      "usr/lib/python3.11/dist-packages/scipy_openblas32/lib");
  std::filesystem::create_symlink(root / "given.so",
                                  root / "usr/lib/python3.11/dist-packages" / pip);
  const auto found =
      blas_libraries({root, root / "home", root / "env",
                      (root / "given.so").string() + ":" + (root / "missing.so").string()});
  CHECK(names_in(found, root) ==
        std::vector<std::string>{
            "given.so", "missing.so", "env/lib/python3.11/site-packages/" + pip,
            "home/.local/lib/python3.12/site-packages/numpy.libs/libscipy_openblas64_-1.so",
            "usr/local/lib/benchctl/blas/" + pip,
            "opt/intel/oneapi/mkl/latest/lib/libmkl_rt.so.2"});
  CHECK(blas_libraries({root / "home"}).empty());
  const std::string of_user = "home/.local/lib/benchctl/blas/" + pip;
  put_file(root / of_user);
  CHECK(names_in(blas_libraries({root / "home", root / "home"}), root).front() == of_user);
}

TEST_CASE("blocks of threads cover a product once, in multiples of 16 where there is room") {
  for (const GemmShape shape : {GemmShape{64, 64, 8}, GemmShape{33, 65, 17}, GemmShape{1, 1, 1},
                                GemmShape{2048, 512, 8}, GemmShape{5, 700, 3}})
    for (const int threads : {1, 2, 3, 4, 6, 7, 16, 64}) {
      INFO(shape.m << " x " << shape.n << " by " << threads);
      std::vector<int> covered(static_cast<std::size_t>(shape.m * shape.n), 0);
      for (int thread = 0; thread < threads; ++thread) {
        const GemmBlock block = block_of_thread(shape, threads, thread);
        for (std::int64_t row = block.row; row < block.row + block.rows; ++row)
          for (std::int64_t column = block.column; column < block.column + block.columns; ++column)
            ++covered[static_cast<std::size_t>(row * shape.n + column)];
      }
      CHECK(std::ranges::count(covered, 1) == std::ssize(covered));
    }
  const GemmBlock second = block_of_thread({1000, 1000, 8}, 4, 3);
  CHECK(second.row == 496);
  CHECK(second.column == 496);
  CHECK(second.rows == 504);
}

TEST_CASE("a file that is no BLAS library is refused with its name") {
  const TemporaryDirectory folder;
  put_file(folder.path() / "text.so");
  CHECK_THROWS_WITH(FoundBlas(folder.path() / "text.so"), Catch::Matchers::Contains("text.so"));
  CHECK_THROWS_WITH(FoundBlas("libm.so.6"), Catch::Matchers::Contains("no cblas_dgemm"));
}

TEST_CASE("a library that was found computes exact products on any number of threads") {
  const auto path = shared_openblas();
  if (path.empty()) {
    WARN("no shared OpenBLAS here");
    return;
  }
  const FoundBlas blas(path);
  CHECK(blas.name() == "openblas");
  CHECK(!blas.version().empty());
  const HostCpus cpus = HostCpus::allowed();
  HostThreadWatch watch;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32})
    for (const GemmShape shape : {GemmShape{64, 64, 64}, GemmShape{33, 65, 17}, GemmShape{1, 1, 1}})
      for (const int threads : {1, cpus.count()}) {
        const GemmOffer offer = make_found_gemm(
            blas, {.dtype = dtype, .shape = shape, .threads = threads}, cpus.first(threads), watch);
        REQUIRE(offer.plan);
        const Matrices x = make_matrices(shape, dtype, MatrixValues::integers, 7);
        offer.plan->load(x.a, x.b);
        offer.plan->clear();
        offer.plan->run(2);
        CHECK(check_exact(x, offer.plan->output(), offer.plan->result()).error == 0.0);
      }
  CHECK(make_found_gemm(blas, {.dtype = Dtype::bf16, .shape = {8, 8, 8}}, cpus.first(1), watch)
            .plan == nullptr);
}

}  // namespace bench
