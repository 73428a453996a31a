// BLAS libraries found at run time (found_library.h): OpenBLAS, oneMKL, BLIS with its CBLAS (AOCL's
// and others), Arm Performance Libraries, and any other with a CBLAS interface. Their products are
// divided over our own pinned threads, each of which calls the library for a block of C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "devices/host/found_library.h"

namespace bench {

/// A part of C: rows and columns from a first one on.
struct GemmBlock {
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;
};
/// Block `thread` of as many blocks as threads, nearly square and of multiples of 16 where the
/// shape allows; empty for a thread without work.
GemmBlock block_of_thread(const GemmShape& shape, int threads, int thread);

class FoundBlas final : public FoundLibrary {
 public:
  /// Limits each call to the thread that makes it, where the library has a way to: OpenBLAS,
  /// oneMKL, BLIS, and any whose threads are GNU OpenMP's. Throws Error(environment) if the library
  /// has no CBLAS, or the names of the one that the program uses.
  explicit FoundBlas(const SharedLibrary& library);

  std::string name() const override { return kind_ + "-" + version_; }
  bool has_gemm(Dtype dtype) const override { return function(dtype) != nullptr; }
  const std::string& kernels() const { return kernels_; }  // that it chose: "SapphireRapids"
  /// The instruction set of a product of this type, as far as the library tells; "" if it does not.
  std::string isa(Dtype dtype) const;
  GemmOffer offer(const GemmRequest& request, const std::vector<int>& cores,
                  HostThreadWatch& watch) const override;

  /// The block of C = A B, row major and dense; may be called by several threads at once.
  void multiply(Dtype dtype, const GemmShape& shape, const GemmBlock& block, const std::byte* a,
                const std::byte* b, std::byte* c) const;

 private:
  /// OpenBLAS can be built with a prefix and a suffix of all names.
  void find_interface(const SharedLibrary& library);
  void describe_openblas(const SharedLibrary& library);
  void describe_mkl(const SharedLibrary& library);
  void describe_blis(const SharedLibrary& library);
  void describe_armpl(const SharedLibrary& library);
  void* function(Dtype dtype) const;  // nullptr: the library has no such product

  std::string prefix_ = {}, suffix_ = {};
  bool wide_ = false;    // 64-bit integers
  bool threads_ = true;  // several threads may call it at once
  void *dgemm_ = nullptr, *sgemm_ = nullptr, *bf16_ = nullptr, *f16_ = nullptr, *int8_ = nullptr;
  std::string kind_ = {}, version_ = {}, kernels_ = {}, isa_ = {};
};

}  // namespace bench
