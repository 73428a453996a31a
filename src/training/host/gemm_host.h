// GEMM kernels: cache blocks around gemm_loops.h; large GEMMs are packed.
#pragma once

#include <algorithm>
#include <memory>

#include "training/host/gemm_loops.h"
#include "training/host/vector.h"
#include "training/kernels/kernel_set.h"

namespace bench::training::BENCH_ISA {

// A tile of a large GEMM in registers, over packed factors: of a, the kPackedRows elements of a
// column are contiguous, then those of the next; of b, a row of kPackedColumns.

// Registers: kPackedRows x 2 sums, 2 of b, one of a.
constexpr int kPackedRows = BENCH_VECTOR_REGISTERS >= 32 ? 12 : 6;
/// Tiles at the lower edge have a multiple of these rows.
constexpr int kPackedRowStep = kPackedRows / 3;
template <class T>
constexpr Index kPackedColumns = 2 * kWidth<T>;

/// Prefetches the next tile of c while this one is computed.
template <class T>
inline __attribute__((always_inline)) void fetch_tile(const T* c, Index stride) {
  for (int i = 0; i < kPackedRows; ++i)
    for (int v = 0; v < 2; ++v) __builtin_prefetch(c + i * stride + v * kWidth<T>, 1);
}

/// c[rows, kPackedColumns] = a b (+ start). Sums start from `start` and traverse k in order, like
/// those of gemm_loops.h, and give the same bits.
template <class T, int rows>
inline void packed_tile(Index k, const T* a, const T* b, Start<T> start, T* c, Index stride) {
  Vec<T> sum[rows][2];
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < 2; ++v) {
      const Index column = v * kWidth<T>;
      sum[i][v] = start.addend ? load<T>(start.addend + i * start.stride + column) : Vec<T>{};
      if (start.bias) sum[i][v] += load<T>(start.bias + column);
    }
  for (Index p = 0; p < k; ++p, a += kPackedRows, b += kPackedColumns<T>) {
    Vec<T> row[2];
    for (int v = 0; v < 2; ++v) row[v] = load<T>(b + v * kWidth<T>);
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < 2; ++v) sum[i][v] += a[i] * row[v];
  }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < 2; ++v) store<T>(c + i * stride + v * kWidth<T>, sum[i][v]);
}

/// The same for edge tiles with fewer rows or columns.
template <class T>
inline void packed_edge(Index k, const T* a, const T* b, Start<T> start, T* c, Index stride,
                        Index rows, Index columns) {
  constexpr Index kColumns = kPackedColumns<T>;
  alignas(64) T whole[kPackedRows * kColumns] = {};
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      whole[i * kColumns + j] = (start.addend ? start.addend[i * start.stride + j] : T{}) +
                                (start.bias ? start.bias[j] : T{});
  const Start<T> from{whole, kColumns, nullptr};
  if (rows <= kPackedRowStep)
    packed_tile<T, kPackedRowStep>(k, a, b, from, whole, kColumns);
  else if (rows <= 2 * kPackedRowStep)
    packed_tile<T, 2 * kPackedRowStep>(k, a, b, from, whole, kColumns);
  else
    packed_tile<T, kPackedRows>(k, a, b, from, whole, kColumns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) c[i * stride + j] = whole[i * kColumns + j];
}

/// c[rows, columns] = a b (+ start), at most a whole tile.
template <class T>
inline void packed_product(Index k, const T* a, const T* b, Start<T> start, T* c, Index stride,
                           Index rows, Index columns) {
  const bool whole = columns == kPackedColumns<T>;
  if (whole && rows == kPackedRows)
    packed_tile<T, kPackedRows>(k, a, b, start, c, stride);
  else if (whole && rows == 2 * kPackedRowStep)
    packed_tile<T, 2 * kPackedRowStep>(k, a, b, start, c, stride);
  else if (whole && rows == kPackedRowStep)
    packed_tile<T, kPackedRowStep>(k, a, b, start, c, stride);
  else
    packed_edge<T>(k, a, b, start, c, stride, rows, columns);
}

// Transposes square blocks in registers, for packing GEMM operands.

/// Of two rows that differ in the bit `step`: the one where it is 0, and the one where it is 1.
template <int step, int width, bool second>
struct Exchanged {
  static constexpr int lane(int i) {
    if (second) return i & step ? width + i : i + step;
    return i & step ? width + i - step : i;
  }
};

/// Transposes a square of vectors in log2 stages, each of which exchanges one bit of the row number
/// with the same bit of the column number.
template <class T, int step = 1>
inline __attribute__((always_inline)) void transpose_block(Vec<T> (&rows)[kWidth<T>]) {
  for (int r = 0; r < kWidth<T>; ++r) {
    if (r & step) continue;
    const Vec<T> a = rows[r], b = rows[r + step];
    rows[r] = shuffled<Exchanged<step, kWidth<T>, false>, T>(a, b);
    rows[r + step] = shuffled<Exchanged<step, kWidth<T>, true>, T>(a, b);
  }
  if constexpr (2 * step < kWidth<T>) transpose_block<T, 2 * step>(rows);
}

/// rows[i] = the vector at `from + i stride`; zeros from row `count`.
template <class T>
inline __attribute__((always_inline)) void load_block(const T* from, Index stride, Index count,
                                                      Vec<T> (&rows)[kWidth<T>]) {
  if (count >= kWidth<T>) {
    for (int i = 0; i < kWidth<T>; ++i) rows[i] = load<T>(from + i * stride);
    return;
  }
  for (int i = 0; i < kWidth<T>; ++i) rows[i] = i < count ? load<T>(from + i * stride) : Vec<T>{};
}

// Packs the operands of a large GEMM in the order in which packed_tile() reads them. Elements
// beyond an edge are zero.

/// to[p, j] = from[p, j] of `n` columns, at most kPackedColumns.
template <class T>
inline void pack_right(Operand<T> from, Index n, Index k, T* to) {
  for (Index p = 0; p < k; ++p, to += kPackedColumns<T>) {
    const T* row = from.data + p * from.stride;
    if (n == kPackedColumns<T>) {
      for (int v = 0; v < 2; ++v) store<T>(to + v * kWidth<T>, load<T>(row + v * kWidth<T>));
      continue;
    }
    for (Index j = 0; j < kPackedColumns<T>; ++j) to[j] = j < n ? row[j] : T{};
  }
}

/// to[p, j] = from[j, p].
template <class T>
inline void pack_right_turned(Operand<T> from, Index n, Index k, T* to) {
  const Index whole = k / kWidth<T> * kWidth<T>;
  for (Index j = 0; j < kPackedColumns<T>; j += kWidth<T>) {
    const T* rows = from.data + j * from.stride;
    for (Index p = 0; p < whole; p += kWidth<T>) {
      Vec<T> block[kWidth<T>];
      load_block<T>(rows + p, from.stride, n - j, block);
      transpose_block<T>(block);
      for (int q = 0; q < kWidth<T>; ++q) store<T>(to + (p + q) * kPackedColumns<T> + j, block[q]);
    }
    for (Index p = whole; p < k; ++p)
      for (int q = 0; q < kWidth<T>; ++q)
        to[p * kPackedColumns<T> + j + q] = j + q < n ? rows[q * from.stride + p] : T{};
  }
}

/// One tile's rows of a: to[p, i] = from[i, p], of `m` rows. Writes up to a vector beyond its end.
template <class T>
inline void pack_left(Operand<T> from, Index m, Index k, T* to) {
  constexpr int kGroups = (kPackedRows + kWidth<T> - 1) / kWidth<T>;
  const Index whole = k / kWidth<T> * kWidth<T>;
  for (Index p = 0; p < whole; p += kWidth<T>) {
    Vec<T> block[kGroups][kWidth<T>];
    for (int g = 0; g < kGroups; ++g) {
      const Index rows = std::min<Index>(m, kPackedRows) - g * kWidth<T>;
      load_block<T>(from.data + g * kWidth<T> * from.stride + p, from.stride, rows, block[g]);
      transpose_block<T>(block[g]);
    }
    // In this order: a group that is wider than the remaining rows extends into the next column,
    // which is written after it.
    for (int q = 0; q < kWidth<T>; ++q)
      for (int g = 0; g < kGroups; ++g)
        store<T>(to + (p + q) * kPackedRows + g * kWidth<T>, block[g][q]);
  }
  for (Index p = whole; p < k; ++p)
    for (Index i = 0; i < kPackedRows; ++i)
      to[p * kPackedRows + i] = i < m ? from.data[i * from.stride + p] : T{};
}

/// All rows of a block of a that is transposed, tile by tile: to[t][p, i] = from[p, t kPackedRows +
/// i]. A few tiles at a time, to read whole cache lines and write no more streams than a cache has
/// ways.
template <class T>
inline void pack_left_turned(Operand<T> from, Index m, Index k, T* to) {
  constexpr Index kTiles = 8, kGroup = kTiles * kPackedRows;
  for (Index first = 0; first < m; first += kGroup)
    for (Index p = 0; p < k; ++p) {
      const T* row = from.data + p * from.stride;
      for (Index i = first; i < std::min(m, first + kGroup); i += kPackedRows) {
        T* column = to + i * k + p * kPackedRows;
        if (i + kPackedRows <= m)
          __builtin_memcpy(column, row + i, kPackedRows * sizeof(T));
        else
          for (Index r = 0; r < kPackedRows; ++r) column[r] = i + r < m ? row[i + r] : T{};
      }
    }
}

/// GEMMs whose matrices together exceed a level 2 cache (Goto and van de Geijn, Anatomy of
/// High-Performance Matrix Multiplication, 2008): blocks of a and panels of b are packed for that
/// cache. While a panel is processed, the next one and the next tile of c are prefetched from
/// memory.
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
  // CPUs with 512-bit vectors have a level 2 cache of 1 MiB or more: a block of a takes 792 KiB of
  // it in f32. If k is not larger, c is written only once; the panel of b, larger than a level 1
  // cache, is read at 11 bytes per cycle.
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

  Ahead pack_panel(const GemmOptions& product, View b, View c, const Part& part, Index n0,
                   Index n) {
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

  /// The panel of b with rows as wide as a panel: in place, or gathered.
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
