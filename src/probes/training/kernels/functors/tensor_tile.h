// GEMMs of small bf16 tiles on a GPU's tensor cores: m16n8k16 of a warp, each
// thread with its share of the factors ("fragments") in registers. On the CPU a loop over the warp
// does the same with the same fragments, so that the thread layout is tested there.
//
// Thread 4 g + t of a warp holds (PTX ISA, "Matrix Fragments for mma.m16n8k16"):
//   A, 16 rows x 16: (g, 2t) (g, 2t+1) | (g+8, ...) | (g, 2t+8) (g, 2t+9) | (g+8, ...)
//   B, 16 x 8 columns: (2t, g) (2t+1, g) | (2t+8, g) (2t+9, g)
//   C, 16 x 8: (g, 2t) (g, 2t+1) (g+8, 2t) (g+8, 2t+1)
#pragma once

#include <math.h>

#include "probes/training/kernels/functors/portable.h"

namespace bench::training {

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

/// B[k, j] = rows[(row + k) stride + column + j], of shared memory; all threads of a warp ask
/// together.
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

/// value(thread) becomes the join of those of the four threads that hold parts of one row.
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

}  // namespace bench::training
