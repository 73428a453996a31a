// OpenBLAS libraries that this machine has besides the one that the program was built with: found
// at run time and loaded when a GEMM asks for them. Their products are divided over our own pinned
// threads, each of which calls the library for a block of C.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "devices/host/gemm_backends.h"

namespace bench {

/// Files that are libraries of this kind: those in $BENCHCTL_BLAS, separated by colons, and what
/// `scripts/install --fastest` installed.
struct BlasEnvironment {
  std::filesystem::path root = "/";   // stands for "/", in tests
  std::string home = {}, given = {};  // $HOME and $BENCHCTL_BLAS; "": not set
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
  /// Loads it; throws Error(environment) if that fails, if it is no OpenBLAS, or if it is the one
  /// that the program uses already.
  explicit FoundBlas(const std::filesystem::path& path);
  FoundBlas(const FoundBlas&) = delete;
  FoundBlas& operator=(const FoundBlas&) = delete;

  /// "openblas-0.3.34.481.3": another one than the program's, so that results of the two are
  /// different series.
  std::string name() const { return "openblas-" + version_; }
  const std::string& version() const { return version_; }
  const std::string& kernels() const { return kernels_; }  // that it chose: "SapphireRapids"
  bool threads() const { return threads_; }  // whether several threads may call it at once

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
  bool threads_ = true;
  void *dgemm_ = nullptr, *sgemm_ = nullptr;
  std::string version_ = {}, kernels_ = {};
};

/// All that load, each once in a process, and why others do not.
const std::vector<std::unique_ptr<FoundBlas>>& found_blas();
const std::vector<std::string>& found_blas_problems();

GemmOffer make_found_gemm(const FoundBlas& blas, const GemmRequest& request,
                          const std::vector<int>& cores, HostThreadWatch& watch);

}  // namespace bench
