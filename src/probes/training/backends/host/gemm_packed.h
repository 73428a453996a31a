// Products whose matrices are larger than a level 2 cache together (Goto and van de Geijn, Anatomy
// of High-Performance Matrix Multiplication, 2008): blocks of a are packed for that cache, as
// are panels of b. While a panel is worked on, the next one and the next tile of c are
// fetched, for both come from memory.
#pragma once

#include <algorithm>
#include <memory>

#include "probes/training/backends/host/pack.h"
#include "probes/training/kernels/gemm.h"

namespace bench::training::BENCH_ISA {

template <class T>
class PackedGemm {
 public:
  /// Whether this class handles the GEMM.
  static bool suits(View a, View b, View c) {
    const Index elements = a.elements() + b.elements() + c.elements();
    return c.rows >= 4 * kPackedRows && c.columns >= kPackedColumns<T> && a.elements() > 0 &&
           elements * static_cast<Index>(sizeof(T)) > kCache;
  }

  void multiply(const GemmOptions& product, View a, View b, View c) {
    if (!packed_) packed_ = std::make_unique<Packed>();
    const Index depth = product.transpose_a ? a.rows : a.columns;
    const Index k_step = even_part(depth, kDepth, 1);
    const Index m_step = even_part(c.rows, std::min(kRows, kBlock / k_step), kPackedRows);
    for (Index k0 = 0; k0 < depth; k0 += k_step)
      for (Index m0 = 0; m0 < c.rows; m0 += m_step) {
        const Part part{m0, std::min(m_step, c.rows - m0), k0, std::min(k_step, depth - k0)};
        pack_block(product, a, part);
        for (Index n0 = 0; n0 < c.columns; n0 += kPackedColumns<T>) panel(product, b, c, part, n0);
      }
  }

 private:
  static constexpr Index kCache = 1 << 20;
  // Vectors of 512 bits are those of CPUs whose level 2 cache has 1 MiB or more: a block of a takes
  // 792 KiB of it in f32. If k is not larger, c is then written once; the panel of b,
  // larger than a level 1 cache, is read at 11 bytes a cycle.
  static constexpr Index kDepth = BENCH_VECTOR_BYTES >= 64 ? 768 : 256;
  static constexpr Index kBlock = kDepth * (BENCH_VECTOR_BYTES >= 64 ? 264 : 192);  // elements
  static constexpr Index kRows = 528;
  struct Part {
    Index m0, m, k0, k;
  };
  struct Packed {
    alignas(64) T left[kBlock + kWidth<T>];
    alignas(64) T right[kDepth * kPackedColumns<T>];
  };

  /// Part size for the fewest equal parts (the last may be smaller): a multiple of `unit`, at most
  /// `most`.
  static Index even_part(Index whole, Index most, Index unit) {
    most = most / unit * unit;
    const Index parts = (whole + most - 1) / most, each = (whole + parts - 1) / parts;
    return (each + unit - 1) / unit * unit;
  }

  void pack_block(const GemmOptions& product, View a, const Part& part) {
    if (product.transpose_a) {
      const Operand<T> from{a.as<T>() + part.k0 * a.columns + part.m0, a.columns};
      return pack_left_turned<T>(from, part.m, part.k, packed_->left);
    }
    const Operand<T> from{a.as<T>() + part.m0 * a.columns + part.k0, a.columns};
    for (Index i = 0; i < part.m; i += kPackedRows)
      pack_left<T>({from.data + i * from.stride, from.stride}, part.m - i, part.k,
                   packed_->left + i * part.k);
  }

  void panel(const GemmOptions& product, View b, View c, const Part& part, Index n0) {
    const Index n = std::min(kPackedColumns<T>, c.columns - n0);
    Ahead ahead = pack_panel(product, b, c, part, n0, n);
    // Later slices of k accumulate onto earlier ones.
    const View before = part.k0 > 0 ? c : product.addend;
    const T* bias = part.k0 == 0 && product.bias ? product.bias.as<T>() + n0 : nullptr;
    for (Index i = 0; i < part.m; i += kPackedRows) {
      const Index at = (part.m0 + i) * c.columns + n0;
      fetch_tile<T>(c.as<T>() + at + kPackedRows * c.columns, c.columns);
      ahead.fetch();
      packed_product<T>(part.k, packed_->left + i * part.k, packed_->right,
                        {before ? before.as<T>() + at : nullptr, c.columns, bias}, c.as<T>() + at,
                        c.columns, std::min<Index>(kPackedRows, part.m - i), n);
    }
  }

  /// Rows of b for the next panel, with `columns` each, a few per tile.
  struct Ahead {
    const T* from;
    Index stride, columns, left, share;

    void fetch() {
      for (Index i = std::min(share, left); i > 0; --i, --left, from += stride)
        for (Index j = 0; j < columns; j += 64 / static_cast<Index>(sizeof(T)))
          __builtin_prefetch(from + j, 0, 2);
    }
  };

  Ahead pack_panel(const GemmOptions& product, View b, View c, const Part& part, Index n0, Index n) {
    const Index after = n0 + n, more = std::min(kPackedColumns<T>, c.columns - after);
    const Index tiles = (part.m + kPackedRows - 1) / kPackedRows;
    const auto share = [tiles](Index rows) { return (rows + tiles - 1) / tiles; };
    if (product.transpose_b) {
      const Operand<T> from{b.as<T>() + n0 * b.columns + part.k0, b.columns};
      pack_right_turned<T>(from, n, part.k, packed_->right);
      return {from.data + n * b.columns, b.columns, part.k, more, share(more)};
    }
    const Operand<T> from{b.as<T>() + part.k0 * b.columns + n0, b.columns};
    pack_right<T>(from, n, part.k, packed_->right);
    return {from.data + n, b.columns, more, more > 0 ? part.k : 0, share(part.k)};
  }

  std::unique_ptr<Packed> packed_ = {};
};

}  // namespace bench::training::BENCH_ISA
