// BLAS libraries that this machine has besides those that the program was built with, such as a
// newer OpenBLAS: found at run time and loaded when a GEMM asks for them. Their products are
// divided over our own pinned threads, each of which calls the library for a block of C, so the
// library's threads do not matter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "devices/host/gemm_backends.h"

namespace bench {

/// Where libraries may be: the paths in $BENCHCTL_BLAS, separated by colons; PyPI's
/// scipy-openblas32, scipy-openblas64 and numpy in the folders of Python's packages; oneMKL, AOCL
/// and Arm Performance Libraries where their installers put them. Existing files, in this order,
/// each once.
std::vector<std::filesystem::path> blas_libraries_here();
/// Of the files below `root` (tests), which stands for "/", with these values of HOME, VIRTUAL_ENV
/// and BENCHCTL_BLAS ("": not set).
struct BlasEnvironment {
  std::filesystem::path root = "/";
  std::string home = {}, virtual_env = {}, given = {};
};
std::vector<std::filesystem::path> blas_libraries(const BlasEnvironment& environment);

/// A part of C: rows and columns from a first one on.
struct GemmBlock {
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;
};
/// Block `thread` of as many blocks as threads, nearly square and of multiples of 16 where the
/// shape allows; empty for a thread without work.
GemmBlock block_of_thread(const GemmShape& shape, int threads, int thread);

/// A loaded library.
class FoundBlas {
 public:
  /// Loads it; throws Error(environment) if that fails or it has no CBLAS.
  explicit FoundBlas(const std::filesystem::path& path);
  FoundBlas(const FoundBlas&) = delete;
  FoundBlas& operator=(const FoundBlas&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::string& name() const { return name_; }  // "openblas", "mkl", "blis", "armpl", "blas"
  /// With the kernels that it chose, "0.3.34 (SapphireRapids)"; "" if it does not say.
  const std::string& version() const { return version_; }
  const std::string& kernels() const { return kernels_; }  // "SapphireRapids"; "" if unknown
  std::string isa() const;                                 // "" if unknown

  /// The block of C = A B, row major and dense; may be called by several threads at once.
  void multiply(const GemmShape& shape, const GemmBlock& block, const double* a, const double* b,
                double* c) const;
  void multiply(const GemmShape& shape, const GemmBlock& block, const float* a, const float* b,
                float* c) const;

 private:
  void* symbol(const std::string& name) const;
  void find_interface();
  void describe();

  std::filesystem::path path_;
  void* library_ = nullptr;  // for the rest of the process: OpenBLAS cannot be unloaded
  std::string prefix_ = {}, suffix_ = {};
  bool wide_ = false;  // 64-bit integers
  void *dgemm_ = nullptr, *sgemm_ = nullptr;
  std::string name_ = "blas", version_ = {}, kernels_ = {};
};

/// All that load, each once in a process; `problems`: of those that do not.
const std::vector<std::unique_ptr<FoundBlas>>& found_blas();
const std::vector<std::string>& found_blas_problems();

GemmOffer make_found_gemm(const FoundBlas& blas, const GemmRequest& request,
                          const std::vector<int>& cores, HostThreadWatch& watch);

}  // namespace bench
