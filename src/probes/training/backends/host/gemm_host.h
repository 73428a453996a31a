// GEMM kernels: cache blocks around gemm_loops.h; large ones are gemm_packed.h's.
#pragma once

#include <algorithm>

#include "probes/training/backends/host/gemm_loops.h"
#include "probes/training/backends/host/gemm_packed.h"
#include "probes/training/kernels/gemm.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Gemm final : public GemmKernels {
 public:
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    if (PackedGemm<T>::suits(a, b, c)) return large_.multiply(product, a, b, c);
    const Sizes size{c.rows, c.columns, product.transpose_a ? a.rows : a.columns};
    const Index m_block = product.transpose_a ? size.m : kRowBlock;
    for (Index k0 = 0; k0 < size.k || k0 == 0; k0 += kDepth)
      for (Index m0 = 0; m0 < size.m; m0 += m_block)
        for (Index n0 = 0; n0 < size.n; n0 += kPanel) {
          const Part part{m0, std::min(m_block, size.m - m0), n0, std::min(kPanel, size.n - n0),
                          k0, std::min(kDepth, size.k - k0)};
          panel(product, a, b, c, part);
        }
  }

 private:
  static constexpr Index kPanel = kTileVectors * kWidth<T>;
  static constexpr Index kDepth = 256;  // a panel is 64 KiB of f32: half of a level 2 cache is free
  static constexpr Index kRowBlock = 384;  // of a, 384 KiB
  struct Sizes {
    Index m, n, k;
  };
  struct Part {
    Index m0, m, n0, n, k0, k;
  };

  void panel(const GemmOptions& product, View a, View b, View c, const Part& part) {
    const Operand<T> right = gather(product, b, part);
    const Operand<T> left = product.transpose_a
                                ? Operand<T>{a.as<T>() + part.k0 * a.columns + part.m0, a.columns}
                                : Operand<T>{a.as<T>() + part.m0 * a.columns + part.k0, a.columns};
    T* to = c.as<T>() + part.m0 * c.columns + part.n0;
    // Later slices of k accumulate onto earlier ones.
    const View before = part.k0 > 0 ? c : product.addend;
    const T* addend = before ? before.as<T>() + part.m0 * c.columns + part.n0 : nullptr;
    const T* bias = part.k0 == 0 && product.bias ? product.bias.as<T>() + part.n0 : nullptr;
    const Index whole = part.n / kWidth<T> * kWidth<T>;
    run(product.transpose_a, part.m, whole, part.k, left, right, {addend, c.columns, bias}, to,
        c.columns);
    if (whole < part.n) rest(product.transpose_a, part, whole, left, right, addend, bias, to, c);
  }

  static void run(bool transposed, Index m, Index n, Index k, Operand<T> a, Operand<T> b,
                  Start<T> start, T* c, Index stride) {
    if (transposed)
      block_product<T, true>(m, n, k, a, b, start, c, stride);
    else
      block_product<T, false>(m, n, k, a, b, start, c, stride);
  }

  /// The last columns, fewer than a vector, through a buffer with rows as wide as a vector.
  void rest(bool transposed, const Part& part, Index from, Operand<T> a, Operand<T> b,
            const T* addend, const T* bias, T* c, View whole) {
    const Index n = part.n - from;
    for (Index i = 0; i < part.m; i += kTileRows) {
      const Index rows = std::min<Index>(kTileRows, part.m - i);
      T sums[kTileRows * kWidth<T>] = {};
      const auto each = [&](const auto& work) {
        for (Index r = 0; r < rows; ++r)
          for (Index j = 0; j < n; ++j)
            work(sums[r * kWidth<T> + j], (i + r) * whole.columns + from + j, from + j);
      };
      each([&](T& sum, Index at, Index column) {
        sum = (addend ? addend[at] : T{}) + (bias ? bias[column] : T{});
      });
      run(transposed, rows, kWidth<T>, part.k, {a.data + (transposed ? i : i * a.stride), a.stride},
          {b.data + from, b.stride}, {sums, kWidth<T>, nullptr}, sums, kWidth<T>);
      each([&](T& sum, Index at, Index) { c[at] = sum; });
    }
  }

  /// Where the panel of b can be read with rows as wide as a panel: in place, or gathered.
  Operand<T> gather(const GemmOptions& product, View b, const Part& part) {
    const bool ragged = part.n % kWidth<T> != 0;
    if (!product.transpose_b && !ragged && (b.columns <= kPanel || part.m < 4 * kTileRows))
      return {b.as<T>() + part.k0 * b.columns + part.n0, b.columns};
    if (product.transpose_b)
      transpose(b.as<T>() + part.n0 * b.columns + part.k0, b.columns, part.n, part.k);
    else
      for (Index p = 0; p < part.k; ++p) {
        const T* from = b.as<T>() + (part.k0 + p) * b.columns + part.n0;
        for (Index j = 0; j < part.n; ++j) panel_[p * kPanel + j] = from[j];
        for (Index j = part.n; j < kPanel; ++j) panel_[p * kPanel + j] = T{};
      }
    return {panel_, kPanel};
  }

  void transpose(const T* from, Index stride, Index n, Index k) {
    constexpr Index kStep = 8;
    for (Index p0 = 0; p0 < k; p0 += kStep)
      for (Index j = 0; j < kPanel; ++j)
        for (Index p = p0; p < std::min(k, p0 + kStep); ++p)
          panel_[p * kPanel + j] = j < n ? from[j * stride + p] : T{};
  }

  alignas(64) T panel_[kDepth * kPanel];
  PackedGemm<T> large_ = {};
};

}  // namespace bench::training::BENCH_ISA
