// Shared by the plans of oneDNN, OpenBLAS and BLIS: matrix memory, threads of the OpenMP pool,
// row-major matrices.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "devices/host/clock.h"
#include "devices/host/core_share.h"
#include "devices/host/gemm_backends.h"
#include "devices/host/thread_watch.h"

namespace bench {

/// Matrix memory: aligned, on transparent huge pages if available, and touched, so that no page
/// fault is timed.
class MatrixMemory {
 public:
  /// Zeroed. Throws Error(environment) if there is not enough memory.
  explicit MatrixMemory(std::size_t bytes);
  ~MatrixMemory();
  MatrixMemory(MatrixMemory&& other) noexcept;
  MatrixMemory& operator=(MatrixMemory&&) = delete;
  MatrixMemory(const MatrixMemory&) = delete;
  MatrixMemory& operator=(const MatrixMemory&) = delete;

  std::byte* data() const { return data_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
};

/// The OpenMP pool, which all libraries use. During the lifetime of this object it has one watched
/// thread pinned to each of the given cores.
class LibraryThreads {
 public:
  /// Throws Error(environment) if a thread cannot be pinned or the pool has another size.
  LibraryThreads(const std::vector<int>& cores, HostThreadWatch& watch);
  ~LibraryThreads();
  LibraryThreads(const LibraryThreads&) = delete;
  LibraryThreads& operator=(const LibraryThreads&) = delete;

  /// work(thread) on each of them.
  void run(const std::function<void(int thread)>& work);
  /// CoreShare::smallest() for these threads and code of this instruction set.
  std::optional<double> core_share(const std::string& isa);

 private:
  int count_;
  HostThreadWatch& watch_;
  std::vector<int> caller_affinity_;
  std::optional<CoreShare> cores_ = {};  // made on first use, which is rare
};

/// The type of C: f32 for types of 16 bits, 32-bit integers for int8, else that of A and B.
Dtype type_of_product(Dtype dtype);

/// A plan of a BLAS library, not packed.
class BlasPlan : public GemmPlan {
 public:
  BlasPlan(const GemmRequest& request, const std::vector<int>& cores, HostThreadWatch& watch)
      : dtype_(request.dtype),
        shape_(request.shape),
        threads_(cores, watch),
        a_(bytes_of(dtype_, shape_.m, shape_.k)),
        b_(bytes_of(dtype_, shape_.k, shape_.n)),
        c_(bytes_of(type_of_product(dtype_), shape_.m, shape_.n)) {}

  bool packed() const override { return false; }
  Dtype output() const override { return type_of_product(dtype_); }
  void load(std::span<const std::byte> a, std::span<const std::byte> b) override {
    if (a.size() != a_.bytes().size() || b.size() != b_.bytes().size())
      throw Error(ErrorKind::internal, "matrix sizes differ from the GEMM shape");
    std::memcpy(a_.data(), a.data(), a.size());
    std::memcpy(b_.data(), b.data(), b.size());
  }
  void clear() override { std::memset(c_.data(), 0xff, c_.bytes().size()); }
  void run(std::int64_t calls) override {
    for (; calls > 0; --calls) multiply();
  }
  std::vector<std::byte> result() const override { return {c_.bytes().begin(), c_.bytes().end()}; }
  std::optional<Hertz> clock() override { return vector_clock(isa()); }
  std::optional<double> core_share() override { return threads_.core_share(isa()); }

 protected:
  virtual void multiply() = 0;

  Dtype dtype_;
  GemmShape shape_;
  LibraryThreads threads_;
  MatrixMemory a_, b_, c_;
};

}  // namespace bench
