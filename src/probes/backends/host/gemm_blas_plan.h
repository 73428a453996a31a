// What the plans of OpenBLAS and BLIS share: matrices in plain rows, threads of OpenMP's pool.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "probes/backends/host/clock.h"
#include "probes/backends/host/gemm_backends.h"
#include "probes/backends/host/gemm_memory.h"
#include "probes/backends/host/gemm_threads.h"

namespace bench {

class BlasPlan : public GemmPlan {
 public:
  BlasPlan(const GemmRequest& request, const std::vector<int>& cores, HostThreadWatch& watch)
      : dtype_(request.dtype),
        shape_(request.shape),
        threads_(cores, watch),
        a_(bytes_of(dtype_, shape_.m, shape_.k)),
        b_(bytes_of(dtype_, shape_.k, shape_.n)),
        c_(bytes_of(dtype_, shape_.m, shape_.n)) {}

  bool packed() const override { return false; }
  Dtype output() const override { return dtype_; }
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

  Dtype dtype_;  // f64 or f32
  GemmShape shape_;
  LibraryThreads threads_;
  MatrixMemory a_, b_, c_;
};

}  // namespace bench
