// Libraries found at run time: where they are looked for, which are refused, and their products.
#include "devices/host/found_library.h"

#include <fstream>

#include "core/error.h"
#include "devices/host/found_blas.h"
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

/// A library of the system; "" if it has none of these names.
std::filesystem::path system_library(std::initializer_list<const char*> names) {
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"})
    for (const char* name : names)
      if (const auto path = std::filesystem::path(folder) / name; std::filesystem::exists(path))
        return path;
  return {};
}

std::filesystem::path shared_openblas() { return system_library({"libopenblas.so.0"}); }

/// Products of small whole numbers, which are exact in every type.
void check_products(const FoundLibrary& library) {
  const HostCpus cpus = HostCpus::allowed();
  HostThreadWatch watch;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::int8})
    for (const GemmShape shape : {GemmShape{64, 64, 64}, GemmShape{33, 65, 17}, GemmShape{1, 1, 1}})
      for (const int threads : {1, cpus.count()})
        for (const bool packed : {true, false}) {
          INFO(library.name() << ", " << to_string(dtype) << ", " << threads << " threads");
          const GemmOffer offer =
              library.offer({.dtype = dtype, .shape = shape, .threads = threads, .packed = packed},
                            cpus.first(threads), watch);
          if (!offer.plan && (dtype == Dtype::f16 || !library.has_gemm(dtype))) {
            CHECK(!offer.reason.empty());
            continue;
          }
          REQUIRE(offer.plan);
          CHECK(offer.plan->library() == library.name());
          const Matrices x = make_matrices(shape, dtype, MatrixValues::integers, 7);
          offer.plan->load(x.a, x.b);
          offer.plan->clear();
          offer.plan->run(2);
          CHECK(check_exact(x, offer.plan->output(), offer.plan->result()).error == 0.0);
        }
}

}  // namespace

TEST_CASE("libraries are those that are named and those that scripts/install installed") {
  const TemporaryDirectory folder;
  const auto& root = folder.path();
  const std::string installed = "lib/benchctl/blas/";
  const std::string openblas = installed + "scipy_openblas32/lib/libscipy_openblas.so";
  const std::string onednn = installed + "lib/libdnnl.so.3";
  put_file(root / "usr/local" / openblas);
  put_file(root / "home/.local" / openblas);
  put_file(root / "usr/local" / onednn);
  put_file(root / "given.so");
  put_file(root / "b.so");
  const auto found = [&](const LibraryEnvironment& environment) {
    return names_in(library_paths(environment), root);
  };
  const std::string given = (root / "given.so").string();
  CHECK(found({root, root / "home", given + ":" + (root / "b.so").string() + ":" + given}) ==
        std::vector<std::string>{"given.so", "b.so", "usr/local/" + openblas,
                                 "home/.local/" + openblas, "usr/local/" + onednn});
  CHECK(found({root, "home"}) ==
        std::vector<std::string>{"usr/local/" + openblas, "usr/local/" + onednn});
  CHECK(found({root / "home"}).empty());
}

TEST_CASE("vendors' libraries are found by their variables or where installers put them") {
  const TemporaryDirectory folder;
  const auto& root = folder.path();
  put_file(root / "opt/intel/oneapi/mkl/latest/lib/libmkl_rt.so");
  put_file(root / "opt/AMD/aocl/aocl-linux-gcc-5.0.0/gcc/lib/libblis-mt.so");
  put_file(root / "opt/AMD/aocl/aocl-linux-gcc-5.1.0/gcc/lib/libblis-mt.so");
  put_file(root / "modules/mkl/lib/intel64/libmkl_rt.so");
  put_file(root / "modules/armpl/lib/libarmpl_lp64.so");
  CHECK(names_in(library_paths({.root = root}), root) ==
        std::vector<std::string>{"opt/intel/oneapi/mkl/latest/lib/libmkl_rt.so",
                                 "opt/AMD/aocl/aocl-linux-gcc-5.1.0/gcc/lib/libblis-mt.so"});
  CHECK(names_in(library_paths({.root = root,
                                .mkl = root / "modules/mkl",
                                .aocl = root / "modules/none",
                                .armpl = root / "modules/armpl"}),
                 root) == std::vector<std::string>{"modules/mkl/lib/intel64/libmkl_rt.so",
                                                   "modules/armpl/lib/libarmpl_lp64.so"});
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

TEST_CASE("a file that is no matrix library, or the one in use, is refused with its name") {
  const TemporaryDirectory folder;
  put_file(folder.path() / "text.so");
  CHECK_THROWS_WITH(load_library(folder.path() / "text.so"), Catch::Matchers::Contains("text.so"));
  CHECK_THROWS_WITH(load_library("libm.so.6"), Catch::Matchers::Contains("neither a BLAS"));
  if (const auto path = shared_openblas(); !path.empty() && openblas_version().is_string())
    CHECK_THROWS_WITH(load_library(path), Catch::Matchers::Contains("uses already"));
  if (const auto path = system_library({"libdnnl.so.3", "libdnnl.so.2"});
      !path.empty() && onednn_version().is_string())
    CHECK_THROWS_WITH(load_library(path), Catch::Matchers::Contains("uses already"));
}

TEST_CASE("oneDNN 2 is refused, whose interface is another one") {
  const auto path = system_library({"libdnnl.so.2"});
  if (path.empty()) {
    WARN("no oneDNN 2 here");
    return;
  }
  const TemporaryDirectory folder;  // a copy is another library to the loader
  std::filesystem::copy_file(path, folder.path() / "another.so");
  CHECK_THROWS_WITH(load_library(folder.path() / "another.so"),
                    Catch::Matchers::Contains("is oneDNN 2.") ||
                        Catch::Matchers::Contains("uses already"));  // under sanitizers
}

TEST_CASE("another OpenBLAS computes exact products on any number of threads") {
  const auto path = shared_openblas();
  if (path.empty()) {
    WARN("no shared OpenBLAS here");
    return;
  }
  const TemporaryDirectory folder;  // a copy is another library to the loader
  std::filesystem::copy_file(path, folder.path() / "another.so");
  std::unique_ptr<FoundLibrary> blas;
  try {
    blas = load_library(folder.path() / "another.so");
  } catch (const Error& error) {
    WARN(error.what());  // sanitizers
    return;
  }
  CHECK(blas->name().starts_with("openblas-0."));
  CHECK(!dynamic_cast<const FoundBlas&>(*blas).kernels().empty());
  CHECK(blas->has_gemm(Dtype::f64));
  CHECK(!blas->has_gemm(Dtype::bf16));
  check_products(*blas);
}

TEST_CASE("the libraries that this machine has compute exact products") {
  if (found_libraries().empty())
    WARN("none here: scripts/install --fastest, or a file in BENCHCTL_BLAS");
  for (const auto& library : found_libraries()) check_products(*library);
}

}  // namespace bench
