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

TEST_CASE("BLAS libraries are those that are named and those that scripts/install installed") {
  const TemporaryDirectory folder;
  const auto& root = folder.path();
  const std::string package = "lib/benchctl/blas/scipy_openblas32/lib/libscipy_openblas.so";
  put_file(root / "usr/local" / package);
  put_file(root / "home/.local" / package);
  CHECK(names_in(blas_libraries({root, root / "home",
                                 (root / "given.so").string() + ":" + (root / "b.so").string()}),
                 root) == std::vector<std::string>{"given.so", "b.so", "usr/local/" + package,
                                                   "home/.local/" + package});
  CHECK(names_in(blas_libraries({root, "home"}), root) ==
        std::vector<std::string>{"usr/local/" + package});
  CHECK(blas_libraries({root / "home"}).empty());
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

TEST_CASE("a file that is no OpenBLAS, or the one in use, is refused with its name") {
  const TemporaryDirectory folder;
  put_file(folder.path() / "text.so");
  CHECK_THROWS_WITH(FoundBlas(folder.path() / "text.so"), Catch::Matchers::Contains("text.so"));
  CHECK_THROWS_AS(FoundBlas("libm.so.6"), Error);
  if (const auto path = shared_openblas(); !path.empty() && openblas_version().is_string())
    CHECK_THROWS_WITH(FoundBlas(path), Catch::Matchers::Contains("uses already"));
}

TEST_CASE("another OpenBLAS computes exact products on any number of threads") {
  const auto path = shared_openblas();
  if (path.empty()) {
    WARN("no shared OpenBLAS here");
    return;
  }
  const TemporaryDirectory folder;  // a copy is another library to the loader
  std::filesystem::copy_file(path, folder.path() / "another.so");
  std::unique_ptr<FoundBlas> blas;
  try {
    blas = std::make_unique<FoundBlas>(folder.path() / "another.so");
  } catch (const Error& error) {
    WARN(error.what());  // sanitizers
    return;
  }
  CHECK(blas->name().starts_with("openblas-0."));
  CHECK(!blas->kernels().empty());
  const HostCpus cpus = HostCpus::allowed();
  HostThreadWatch watch;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32})
    for (const GemmShape shape : {GemmShape{64, 64, 64}, GemmShape{33, 65, 17}, GemmShape{1, 1, 1}})
      for (const int threads : {1, cpus.count()}) {
        const GemmOffer offer =
            make_found_gemm(*blas, {.dtype = dtype, .shape = shape, .threads = threads},
                            cpus.first(threads), watch);
        REQUIRE(offer.plan);
        const Matrices x = make_matrices(shape, dtype, MatrixValues::integers, 7);
        offer.plan->load(x.a, x.b);
        offer.plan->clear();
        offer.plan->run(2);
        CHECK(check_exact(x, offer.plan->output(), offer.plan->result()).error == 0.0);
      }
  CHECK(make_found_gemm(*blas, {.dtype = Dtype::bf16, .shape = {8, 8, 8}}, cpus.first(1), watch)
            .plan == nullptr);
}

}  // namespace bench
