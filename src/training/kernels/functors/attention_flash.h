// Attention in tiles (FlashAttention-2, arXiv 2307.08691) on matrix units: bf16, heads of 64 or
// 128. A block of four warps has 64 queries of one head, 16 a warp, and passes over tiles of keys
// with a running softmax. No atomics: results are equal from run to run.
#pragma once

#include <math.h>

#include "training/kernels/functors/attention_simple.h"
#include "training/kernels/functors/portable.h"

namespace bench::training {

// GEMMs of small bf16 tiles on a GPU's tensor cores: m16n8k16 of a warp, each
// thread with its share of the factors ("fragments") in registers. On the CPU a loop over the warp
// does the same with the same fragments, so that tests cover the thread layout.
//
// Thread 4 g + t of a warp holds (PTX ISA, "Matrix Fragments for mma.m16n8k16"):
//   A, 16 rows x 16: (g, 2t) (g, 2t+1) | (g+8, ...) | (g, 2t+8) (g, 2t+9) | (g+8, ...)
//   B, 16 x 8 columns: (2t, g) (2t+1, g) | (2t+8, g) (2t+9, g)
//   C, 16 x 8: (g, 2t) (g, 2t+1) (g+8, 2t) (g+8, 2t+1)

/// Two bf16, the first in the lower half.
using Pair = std::uint32_t;

struct TileA {
  Pair r[4];
};
struct TileB {
  Pair r[2];
};
struct TileC {
  float v[4];
};

BENCH_BOTH inline Pair pair_of(float first, float second) {
#ifdef __CUDA_ARCH__
  Pair pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
#else
  return Bf16(first).bits | static_cast<Pair>(Bf16(second).bits) << 16;
#endif
}
BENCH_BOTH inline float first_of(Pair pair) {
  Bf16 value;
  value.bits = static_cast<std::uint16_t>(pair);
  return static_cast<float>(value);
}
BENCH_BOTH inline float second_of(Pair pair) { return first_of(pair >> 16); }

BENCH_BOTH inline int group_of(int thread) { return thread % 32 / 4; }
BENCH_BOTH inline int place_of(int thread) { return thread % 4; }
/// Position in its tile of a thread's element i of C.
BENCH_BOTH inline int row_in_tile(int thread, int i) { return group_of(thread) + i / 2 * 8; }
BENCH_BOTH inline int column_in_tile(int thread, int i) { return 2 * place_of(thread) + i % 2; }

/// A pair is aligned to its size.
BENCH_BOTH inline Pair load_pair(const Bf16* from) {
#ifdef __CUDA_ARCH__
  return *reinterpret_cast<const Pair*>(from);
#else
  return from[0].bits | static_cast<Pair>(from[1].bits) << 16;
#endif
}
BENCH_BOTH inline void store_pair(Bf16* to, Pair pair) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<Pair*>(to) = pair;
#else
  to[0].bits = static_cast<std::uint16_t>(pair);
  to[1].bits = static_cast<std::uint16_t>(pair >> 16);
#endif
}

/// A[i, k] = rows[(row + i) stride + column + k]; rows from `valid` on are zeros.
BENCH_BOTH inline TileA load_a(const Bf16* rows, std::int64_t stride, std::int64_t row,
                               std::int64_t valid, int column, int thread) {
  const std::int64_t upper = row + group_of(thread), lower = upper + 8;
  const int k = column + 2 * place_of(thread);
  TileA a = {};
  if (upper < valid) {
    a.r[0] = load_pair(rows + upper * stride + k);
    a.r[2] = load_pair(rows + upper * stride + k + 8);
  }
  if (lower < valid) {
    a.r[1] = load_pair(rows + lower * stride + k);
    a.r[3] = load_pair(rows + lower * stride + k + 8);
  }
  return a;
}

/// B[k, j] = rows[(row + j) stride + column + k]: a transposed factor.
BENCH_BOTH inline TileB load_b_rows(const Bf16* rows, int stride, int row, int column, int thread) {
  const Bf16* from = rows + (row + group_of(thread)) * stride + column + 2 * place_of(thread);
  return {{load_pair(from), load_pair(from + 8)}};
}

/// B[k, j] = rows[(row + k) stride + column + j], in shared memory; all threads of a warp must call
/// it together.
BENCH_BOTH inline TileB load_b_columns(const Bf16* rows, int stride, int row, int column,
                                       int thread) {
  TileB b;
#ifdef __CUDA_ARCH__
  const auto from =
      static_cast<unsigned>(__cvta_generic_to_shared(rows + (row + thread % 16) * stride + column));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b.r[0]), "=r"(b.r[1])
               : "r"(from));
#else
  for (int half = 0; half < 2; ++half) {
    const Bf16* from =
        rows + (row + 8 * half + 2 * place_of(thread)) * stride + column + group_of(thread);
    b.r[half] = from[0].bits | static_cast<Pair>(from[stride].bits) << 16;
  }
#endif
  return b;
}

/// C's tiles of 8 columns each as the factor A of 16.
BENCH_BOTH inline TileA as_factor(const TileC& left, const TileC& right) {
  return {{pair_of(left.v[0], left.v[1]), pair_of(left.v[2], left.v[3]),
           pair_of(right.v[0], right.v[1]), pair_of(right.v[2], right.v[3])}};
}

/// c += a b for every warp of the block; c, a and b give a thread's fragment.
template <class Block, class OfC, class OfA, class OfB>
BENCH_BOTH void multiply_tiles(Block&, const OfC& c, const OfA& a, const OfB& b) {
#ifdef __CUDA_ARCH__
  const auto thread = static_cast<int>(threadIdx.x);
  TileC& sum = c(thread);
  const TileA left = a(thread);
  const TileB right = b(thread);
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum.v[0]), "+f"(sum.v[1]), "+f"(sum.v[2]), "+f"(sum.v[3])
      : "r"(left.r[0]), "r"(left.r[1]), "r"(left.r[2]), "r"(left.r[3]), "r"(right.r[0]),
        "r"(right.r[1]));
#else
  for (int warp = 0; warp < Block::kThreads; warp += 32) {
    float left[16][16], right[16][8];
    for (int thread = warp; thread < warp + 32; ++thread) {
      const TileA own = a(thread);
      const TileB other = b(thread);
      const int g = group_of(thread), t = place_of(thread);
      for (int i = 0; i < 4; ++i) {
        left[g + i % 2 * 8][2 * t + i / 2 * 8] = first_of(own.r[i]);
        left[g + i % 2 * 8][2 * t + i / 2 * 8 + 1] = second_of(own.r[i]);
      }
      for (int i = 0; i < 2; ++i) {
        right[2 * t + 8 * i][g] = first_of(other.r[i]);
        right[2 * t + 8 * i + 1][g] = second_of(other.r[i]);
      }
    }
    for (int thread = warp; thread < warp + 32; ++thread)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 16; ++k)
          c(thread).v[i] += left[row_in_tile(thread, i)][k] * right[k][column_in_tile(thread, i)];
  }
#endif
}

/// Joins the values of the four threads that hold parts of one row.
template <class Block, class OfThread, class Join>
BENCH_BOTH void join_row(Block&, const OfThread& value, const Join& join) {
#ifdef __CUDA_ARCH__
  float& own = value(static_cast<int>(threadIdx.x));
  own = join(own, __shfl_xor_sync(0xffffffffu, own, 1));
  own = join(own, __shfl_xor_sync(0xffffffffu, own, 2));
#else
  for (int first = 0; first < Block::kThreads; first += 4) {
    float all = value(first);
    for (int other = 1; other < 4; ++other) all = join(all, value(first + other));
    for (int thread = first; thread < first + 4; ++thread) value(thread) = all;
  }
#endif
}

constexpr int kFlashRows = 64;  // of a block: 16 a warp
constexpr float kLog2e = 1.4426950408889634f;
constexpr float kUnseen = -1e30f;

/// Blocks for one head of a sequence.
BENCH_BOTH inline std::int64_t flash_tiles(std::int64_t sequence) {
  return (sequence + kFlashRows - 1) / kFlashRows;
}

/// Row stride of a tile that avoids bank conflicts.
template <int dim>
constexpr int kFlashStride = dim + 8;

/// Copies rows first .. first + count - 1 of a head into shared memory; row(position) may be null:
/// zeros, as beyond the sequence.
template <int dim, class Block, class RowOf>
BENCH_BOTH void load_tile(Block& block, const RowOf& row, std::int64_t first, int count,
                          std::int64_t sequence, Bf16* tile) {
  constexpr int kPacks = dim / 8;
  block.each([&](int thread) {
    for (int i = thread; i < count * kPacks; i += Block::kThreads) {
      const std::int64_t position = first + i / kPacks;
      const Bf16* from = position < sequence ? row(position) : nullptr;
      const Pack<Bf16, 8> zeros = {};
      store_pack(tile + i / kPacks * kFlashStride<dim> + i % kPacks * 8,
                 from ? load_pack<8>(from + i % kPacks * 8) : zeros);
    }
  });
}

/// sums += weights x rows, for every warp: of each thread, its fragments of 16 rows of weights for
/// `count` rows of shared memory, and of 16 rows of dim sums.
template <int count, int dim, class Block, class Weights, class Sums>
BENCH_BOTH void add_product(Block& block, const Bf16* rows, const Weights& weights,
                            const Sums& sums) {
  BENCH_UNROLL
  for (int k = 0; k < count / 16; ++k) BENCH_UNROLL
  for (int n = 0; n < dim / 8; ++n)
    multiply_tiles(
        block, [&](int thread) -> TileC& { return sums(thread)[n]; },
        [&](int thread) { return as_factor(weights(thread)[2 * k], weights(thread)[2 * k + 1]); },
        [&](int thread) { return load_b_columns(rows, kFlashStride<dim>, 16 * k, 8 * n, thread); });
}

template <int dim>
struct FlashForward {
  static constexpr int kKeys = 64;
  static constexpr int kSharedBytes = 2 * kKeys * kFlashStride<dim> * int{sizeof(Bf16)};
  PackedHeads<const Bf16> in;
  Bf16* output;
  float* log_sum;

  struct Own {
    TileA query[dim / 16];
    TileC result[dim / 8];
    TileC scores[kKeys / 8];
    float most[2], sum[2];  // for rows g and g + 8; scores are base-2 exponents
  };

  /// Unit (tile of queries, head); tiles of one sequence after those of another.
  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t tile, std::int64_t head, float* shared) const {
    const std::int64_t tiles = flash_tiles(in.sequence);
    const std::int64_t s = tile / tiles, q0 = (tiles - 1 - tile % tiles) * kFlashRows;
    const std::int64_t kv = head / in.group();
    auto* keys = reinterpret_cast<Bf16*>(shared);
    Bf16* values = keys + kKeys * kFlashStride<dim>;
    typename Block::template Per<Own> own;
    block.each([&](int thread) { start(own(thread), s, head, q0, thread); });
    const std::int64_t end = in.causal ? least(q0 + kFlashRows, in.sequence) : in.sequence;
    for (std::int64_t k0 = 0; k0 < end; k0 += kKeys) {
      block.sync();
      const auto key = [&](std::int64_t j) { return in.key(s, kv, j); };
      const auto value = [&](std::int64_t j) { return in.value(s, kv, j); };
      load_tile<dim>(block, key, k0, kKeys, in.sequence, keys);
      load_tile<dim>(block, value, k0, kKeys, in.sequence, values);
      block.sync();
      score(block, own, keys);
      soften(block, own, q0, k0);
      add_product<kKeys, dim>(
          block, values, [&](int thread) { return own(thread).scores; },
          [&](int thread) { return own(thread).result; });
    }
    finish(block, own, s, head, q0);
  }

 private:
  static BENCH_BOTH std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  BENCH_BOTH void start(Own& own, std::int64_t s, std::int64_t head, std::int64_t q0,
                        int thread) const {
    BENCH_UNROLL
    for (int k = 0; k < dim / 16; ++k)
      own.query[k] = load_a(in.query(s, head, 0), in.width, q0 + thread / 32 * 16, in.sequence,
                            16 * k, thread);
    BENCH_UNROLL
    for (int n = 0; n < dim / 8; ++n) own.result[n] = {};
    BENCH_UNROLL
    for (int row = 0; row < 2; ++row) own.most[row] = kUnseen, own.sum[row] = 0.0f;
  }

  template <class Block, class Owns>
  BENCH_BOTH void score(Block& block, Owns& own, const Bf16* keys) const {
    BENCH_UNROLL
    for (int n = 0; n < kKeys / 8; ++n) {
      block.each([&](int thread) { own(thread).scores[n] = {}; });
      BENCH_UNROLL
      for (int k = 0; k < dim / 16; ++k)
        multiply_tiles(
            block, [&](int thread) -> TileC& { return own(thread).scores[n]; },
            [&](int thread) { return own(thread).query[k]; },
            [&](int thread) {
              return load_b_rows(keys, kFlashStride<dim>, 8 * n, 16 * k, thread);
            });
    }
  }

  /// Scores become 2^(score - largest so far); earlier sums are rescaled for a new maximum.
  template <class Block, class Owns>
  BENCH_BOTH void soften(Block& block, Owns& own, std::int64_t q0, std::int64_t k0) const {
    const float scale = kLog2e / sqrtf(static_cast<float>(dim));
    typename Block::template Per<Pack<float, 2>> top;
    block.each([&](int thread) {
      top(thread).at[0] = own(thread).most[0];
      top(thread).at[1] = own(thread).most[1];
      BENCH_UNROLL
      for (int n = 0; n < kKeys / 8; ++n) BENCH_UNROLL
      for (int i = 0; i < 4; ++i) {
        const std::int64_t q = q0 + thread / 32 * 16 + row_in_tile(thread, i);
        const std::int64_t k = k0 + 8 * n + column_in_tile(thread, i);
        float& score = own(thread).scores[n].v[i];
        score = k < in.sequence && k < in.seen(q) ? score * scale : kUnseen;
        top(thread).at[i / 2] = fmaxf(top(thread).at[i / 2], score);
      }
    });
    BENCH_UNROLL
    for (int row = 0; row < 2; ++row)
      join_row(
          block, [&](int thread) -> float& { return top(thread).at[row]; },
          [](float a, float b) { return fmaxf(a, b); });
    block.each([&](int thread) {
      Own& mine = own(thread);
      BENCH_UNROLL
      for (int row = 0; row < 2; ++row) {
        const float most = top(thread).at[row], shrink = exp2f(mine.most[row] - most);
        mine.most[row] = most;
        mine.sum[row] *= shrink;
        BENCH_UNROLL
        for (int n = 0; n < dim / 8; ++n) BENCH_UNROLL
        for (int i = 2 * row; i < 2 * row + 2; ++i) mine.result[n].v[i] *= shrink;
        BENCH_UNROLL
        for (int n = 0; n < kKeys / 8; ++n) BENCH_UNROLL
        for (int i = 2 * row; i < 2 * row + 2; ++i)
          mine.sum[row] += mine.scores[n].v[i] = exp2f(mine.scores[n].v[i] - most);
      }
    });
  }

  template <class Block, class Owns>
  BENCH_BOTH void finish(Block& block, Owns& own, std::int64_t s, std::int64_t head,
                         std::int64_t q0) const {
    BENCH_UNROLL
    for (int row = 0; row < 2; ++row)
      join_row(
          block, [&](int thread) -> float& { return own(thread).sum[row]; },
          [](float a, float b) { return a + b; });
    block.each([&](int thread) {
      const Own& mine = own(thread);
      BENCH_UNROLL
      for (int row = 0; row < 2; ++row) {
        const std::int64_t q = q0 + thread / 32 * 16 + row_in_tile(thread, 2 * row);
        if (q >= in.sequence) continue;
        const std::int64_t at = (s * in.sequence + q) * in.heads + head;
        const float inverse = 1.0f / mine.sum[row];
        if (place_of(thread) == 0) log_sum[at] = (mine.most[row] + log2f(mine.sum[row])) / kLog2e;
        BENCH_UNROLL
        for (int n = 0; n < dim / 8; ++n) {
          const Pair pair =
              pair_of(mine.result[n].v[2 * row] * inverse, mine.result[n].v[2 * row + 1] * inverse);
          store_pair(output + at * dim + 8 * n + 2 * place_of(thread), pair);
        }
      }
    });
  }
};

}  // namespace bench::training
