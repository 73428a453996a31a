// The loops of DecoderKernels; included once per instruction set, after its macros.
#pragma once

#include "inference/decoder_kernels.h"
#include "training/host/exponential.h"
#include "training/host/vector.h"

namespace bench::inference::BENCH_ISA {

using namespace bench::training::BENCH_ISA;

using Floats = Vec<float>;
using Ints = Mask<float>;  // 32 bits each
constexpr int kLanes = kWidth<float>;
constexpr int kPanelVectors = static_cast<int>(kPanelColumns) / kLanes;
/// Rows of inputs whose sums stay in registers.
constexpr int kMostWideRows = kPanelVectors == 2                                    ? 12
                              : kPanelVectors * 3 <= BENCH_VECTOR_REGISTERS * 3 / 4 ? 3
                                                                                    : 1;
constexpr int kMostRoundedRows = kPanelVectors == 2 ? 6 : 1;
/// How far ahead of their use weights are fetched: further than the processor itself does when
/// each of them is used for many rows.
constexpr Index kFetchBytes = 4096;

inline __attribute__((always_inline)) Floats widened(const std::uint16_t* from) {
  typedef std::uint16_t Halves __attribute__((vector_size(BENCH_VECTOR_BYTES / 2)));
  Halves narrow;
  __builtin_memcpy(&narrow, from, sizeof narrow);
  const Ints bits = __builtin_convertvector(narrow, Ints) << 16;
  Floats wide;
  __builtin_memcpy(&wide, &bits, sizeof wide);
  return wide;
}

inline __attribute__((always_inline)) Ints load_ints(const std::byte* from) {
  Ints v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

#ifndef BENCH_DOT_OF_BYTES
/// Products of 16-bit integers, added up in pairs.
inline __attribute__((always_inline)) Ints pairs_of(Ints a, Ints b) {
#if defined(__x86_64__) && BENCH_VECTOR_BYTES == 64
  return (Ints)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__x86_64__) && BENCH_VECTOR_BYTES == 32
  return (Ints)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
  return (Ints)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
}
#endif

/// sum[i] += products of 4 weights without a sign and 4 inputs with one, each a byte. The inputs
/// are the same for all columns.
inline __attribute__((always_inline)) Ints add_products(Ints sum, Ints weights, Ints inputs) {
#ifdef BENCH_DOT_OF_BYTES
  return BENCH_DOT_OF_BYTES(sum, weights, inputs);
#else
  typedef std::uint16_t Words __attribute__((vector_size(BENCH_VECTOR_BYTES)));
  typedef std::int16_t SignedWords __attribute__((vector_size(BENCH_VECTOR_BYTES)));
  const Ints even = weights & 0x00ff00ff, odd = (Ints)((Words)weights >> 8);
  const Ints even_inputs = (Ints)((SignedWords)((Words)inputs << 8) >> 8),
             odd_inputs = (Ints)((SignedWords)inputs >> 8);
  return sum + pairs_of(even, even_inputs) + pairs_of(odd, odd_inputs);
#endif
}

inline __attribute__((always_inline)) Ints four_inputs(const std::int8_t* from) {
  int four;
  __builtin_memcpy(&four, from, sizeof four);
  return Ints{} + four;
}

/// One panel for `rows` rows of inputs from `row` on.
template <int rows>
class PanelSums {
 public:
  Floats sums[rows][kPanelVectors];

  /// From an array that lies in registers because all its indexes are constants.
  inline __attribute__((always_inline)) void keep(const Floats (&added)[rows][kPanelVectors]) {
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 12
      for (int v = 0; v < kPanelVectors; ++v) sums[r][v] = added[r][v];
  }

  /// A row of weights, and of `rows` rows of inputs the column that it is multiplied by.
  template <class Weights>
  static inline __attribute__((always_inline)) void add_row(Floats (&added)[rows][kPanelVectors],
                                                            const float* inputs, Index depth,
                                                            Weights weights) {
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      const float input = inputs[r * depth];
#pragma GCC unroll 12
      for (int v = 0; v < kPanelVectors; ++v) added[r][v] += input * weights[v];
    }
  }

  inline __attribute__((always_inline)) void multiply_wide(const MatrixPass& pass, Index row,
                                                           const std::byte* panel) {
    const Index depth = pass.weights->rows();
    const float* inputs = pass.from + row * depth;
    Floats added[rows][kPanelVectors] = {};
    for (Index i = 0; i < depth; ++i, panel += 4 * kPanelColumns) {
      Floats weights[kPanelVectors];
#pragma GCC unroll 12
      for (int v = 0; v < kPanelVectors; ++v)
        weights[v] = load<float>(reinterpret_cast<const float*>(panel) + v * kLanes);
      fetch<4 * kPanelColumns>(panel);
      add_row(added, inputs + i, depth, weights);
    }
    keep(added);
  }

  /// Of bf16: two rows of weights are the halves of 32 bits.
  inline __attribute__((always_inline)) void multiply_halves(const MatrixPass& pass, Index row,
                                                             const std::byte* panel) {
    const Index depth = pass.weights->rows();
    const float* inputs = pass.from + row * depth;
    Floats added[rows][kPanelVectors] = {};
    for (Index i = 0; i < depth; i += 2, panel += 4 * kPanelColumns) {
      Floats first[kPanelVectors], second[kPanelVectors];
#pragma GCC unroll 12
      for (int v = 0; v < kPanelVectors; ++v) {
        const Ints both = load_ints(panel + v * BENCH_VECTOR_BYTES);
        first[v] = (Floats)(both << 16);
        second[v] = (Floats)(both & static_cast<int>(0xffff0000U));
      }
      fetch<4 * kPanelColumns>(panel);
      add_row(added, inputs + i, depth, first);
      if (i + 1 < depth) add_row(added, inputs + i + 1, depth, second);
    }
    keep(added);
  }

  template <WeightType type>
  inline __attribute__((always_inline)) void multiply_rounded(const MatrixPass& pass, Index row,
                                                              const std::byte* panel) {
    const Index blocks = pass.weights->blocks();
    Floats added[rows][kPanelVectors] = {};
    for (Index block = 0; block < blocks; ++block, panel += block_bytes(type)) {
      Ints products[rows][kPanelVectors];
#pragma GCC unroll 12
      for (int r = 0; r < rows; ++r)
#pragma GCC unroll 12
        for (int v = 0; v < kPanelVectors; ++v)
          products[r][v] = Ints{} + pass.rounded.starts[(row + r) * blocks + block];
      fetch<block_bytes(type)>(panel);
      const std::byte* weights = panel + 2 * kPanelColumns;
      const std::int8_t* inputs = pass.rounded.values + (row * blocks + block) * kBlockRows;
      constexpr Index kGroupBytes = kGroupRows * kPanelColumns;
      constexpr Index kGroups = kBlockRows / kGroupRows;
#pragma GCC unroll 8
      for (Index group = 0; group < kGroups; group += type == WeightType::int4 ? 2 : 1) {
        const std::byte* at =
            weights + (type == WeightType::int4 ? group / 2 : group) * kGroupBytes;
        Ints first[kPanelVectors], second[kPanelVectors];
#pragma GCC unroll 12
        for (int v = 0; v < kPanelVectors; ++v) {
          first[v] = load_ints(at + v * BENCH_VECTOR_BYTES);
          if constexpr (type == WeightType::int4) {
            second[v] = (first[v] >> 4) & 0x0f0f0f0f;
            first[v] = first[v] & 0x0f0f0f0f;
          }
        }
#pragma GCC unroll 12
        for (int r = 0; r < rows; ++r) {
          const std::int8_t* of_row = inputs + r * blocks * kBlockRows + group * kGroupRows;
          const Ints four = four_inputs(of_row);
#pragma GCC unroll 12
          for (int v = 0; v < kPanelVectors; ++v)
            products[r][v] = add_products(products[r][v], first[v], four);
          if constexpr (type == WeightType::int4) {
            const Ints next_four = four_inputs(of_row + kGroupRows);
#pragma GCC unroll 12
            for (int v = 0; v < kPanelVectors; ++v)
              products[r][v] = add_products(products[r][v], second[v], next_four);
          }
        }
      }
      const auto* scales = reinterpret_cast<const std::uint16_t*>(panel);
#pragma GCC unroll 12
      for (int v = 0; v < kPanelVectors; ++v) {
        const Floats scale = widened(scales + v * kLanes);
#pragma GCC unroll 12
        for (int r = 0; r < rows; ++r)
          added[r][v] += __builtin_convertvector(products[r][v], Floats) *
                         (scale * pass.rounded.scales[(row + r) * blocks + block]);
      }
    }
    keep(added);
  }

  /// Without the first `done` rows.
  inline __attribute__((always_inline)) void put(const MatrixPass& pass, Index row, Index panel,
                                                 Index done) {
    const Index columns = pass.weights->columns(), first = panel * kPanelColumns;
    for (Index r = done; r < rows; ++r)
      for (int v = 0; v < kPanelVectors; ++v) {
        const Index at = first + v * kLanes;
        if (at >= columns) continue;
        const Lanes<float> lanes{at, columns - at < kLanes ? columns - at : kLanes};
        float* to = pass.to + (row + r) * columns;
        Floats sum = sums[r][v];
        if (pass.bias) sum += lanes(pass.bias);
        if (pass.add) sum += lanes(to);
        lanes.put(to, sum);
      }
  }

 private:
  template <Index bytes>
  static inline __attribute__((always_inline)) void fetch(const std::byte* panel) {
#pragma GCC unroll 20
    for (Index i = 0; i < bytes; i += 64) __builtin_prefetch(panel + kFetchBytes + i, 0, 2);
  }
};

/// All rows in tiles of `rows`, of which the last one begins early if it has to end with the rows.
template <WeightType type, int rows>
inline void multiply_tiles(const MatrixPass& pass, Index panel) {
  const std::byte* from = pass.weights->panel(panel);
  for (Index done = 0; done < pass.rows; done += rows) {
    const Index row = done + rows <= pass.rows ? done : pass.rows - rows;
    PanelSums<rows> tile;
    if constexpr (type == WeightType::f32)
      tile.multiply_wide(pass, row, from);
    else if constexpr (type == WeightType::bf16)
      tile.multiply_halves(pass, row, from);
    else
      tile.template multiply_rounded<type>(pass, row, from);
    tile.put(pass, row, panel, done - row);
  }
}

/// In the fewest tiles of at most `most` rows, with about equally many rows each.
template <WeightType type, int most, int rows = most>
inline void multiply_panel(const MatrixPass& pass, Index panel) {
  const Index tiles = (pass.rows + most - 1) / most, each = (pass.rows + tiles - 1) / tiles;
  if constexpr (rows > 1) {
    constexpr int kSmaller = rows == 12 ? 8 : rows - 1;
    if (each <= kSmaller || pass.rows < rows)
      return multiply_panel<type, most, kSmaller>(pass, panel);
  }
  multiply_tiles<type, rows>(pass, panel);
}

inline void multiply(const MatrixPass& pass, std::int64_t first, std::int64_t end) {
  if (pass.rows == 0) return;
  for (Index panel = first; panel < end; ++panel) switch (pass.weights->type()) {
      case WeightType::f32:
        multiply_panel<WeightType::f32, kMostWideRows>(pass, panel);
        break;
      case WeightType::bf16:
        multiply_panel<WeightType::bf16, kMostWideRows>(pass, panel);
        break;
      case WeightType::int8:
        multiply_panel<WeightType::int8, kMostRoundedRows>(pass, panel);
        break;
      case WeightType::int4:
        multiply_panel<WeightType::int4, kMostRoundedRows>(pass, panel);
        break;
    }
}

inline void round_row(const float* from, std::int64_t columns, WeightType type, RoundedRows to) {
  constexpr float kRounder = 12582912.0F;  // 1.5 x 2^23: adding it rounds to an integer
  constexpr float kLeastRounded = 1e-35F;  // below it 127 / largest is infinite
  for (Index block = 0; block * kBlockRows < columns; ++block) {
    const float* values = from + block * kBlockRows;
    const Index count =
        columns - block * kBlockRows < kBlockRows ? columns - block * kBlockRows : kBlockRows;
    float largest = 0.0F, of_finite = 0.0F;  // the latter is 0, or not a number
    for (Index i = 0; i < count; ++i) {
      const float size = values[i] < 0.0F ? -values[i] : values[i];
      largest = size > largest ? size : largest;
      of_finite += values[i] * 0.0F;
    }
    const bool finite = of_finite == 0.0F;
    const float inverse = finite && largest > kLeastRounded ? 127.0F / largest : 0.0F;
    std::int32_t sum = 0;
    for (Index i = 0; i < kBlockRows; ++i) {
      const float value = i < count && finite ? values[i] : 0.0F;
      const auto stored = static_cast<std::int8_t>((value * inverse + kRounder) - kRounder);
      to.values[block * kBlockRows + i] = stored;
      sum += stored;
    }
    to.scales[block] = largest / 127.0F + of_finite;
    to.starts[block] = -weight_offset(type) * sum;
  }
}

/// Scores of `queries` queries, block by block; a shifted head's lie one position further.
template <int queries>
inline void score(const AttentionPass& pass, int first, Index blocks, Index stride) {
  constexpr int kVectors = static_cast<int>(kCacheTokens) / kLanes;
  const float scale = 1.0F / std::sqrt(static_cast<float>(pass.head_dim));
  for (Index block = 0; block < blocks; ++block) {
    Floats sums[queries][kVectors] = {};
    const float* keys = pass.keys[block];
    for (Index i = 0; i < pass.head_dim; ++i) {
      Floats key[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) key[v] = load<float>(keys + i * kCacheTokens + v * kLanes);
#pragma GCC unroll 8
      for (int q = 0; q < queries; ++q)
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) sums[q][v] += pass.query[first + q][i] * key[v];
    }
    for (int q = 0; q < queries; ++q)
      for (int v = 0; v < kVectors; ++v)
        store<float>(pass.scores + (first + q) * stride + block * kCacheTokens + v * kLanes +
                         (pass.shifted ? 1 : 0),
                     sums[q][v] * scale);
  }
}

template <int queries>
inline void mix(const AttentionPass& pass, int first, Index longest, Index stride,
                const float* sums) {
  for (Index j = 0; j < pass.head_dim; j += kLanes) {
    Floats mixed[queries] = {};
    for (Index t = 0; t < longest; ++t) {
      const Floats value =
          load<float>(pass.values[t / kCacheTokens] + t % kCacheTokens * pass.padded_dim + j);
#pragma GCC unroll 8
      for (int q = 0; q < queries; ++q) mixed[q] += pass.scores[(first + q) * stride + t] * value;
    }
    const Lanes<float> lanes{j, pass.head_dim - j < kLanes ? pass.head_dim - j : kLanes};
    for (int q = 0; q < queries; ++q) lanes.put(pass.output[first + q], mixed[q] / sums[q]);
  }
}

template <int queries>
inline void attend_from(const AttentionPass& pass, int first) {
  for (; first + queries <= pass.queries; first += queries) {
    Index longest = 0;
    for (int q = first; q < first + queries; ++q)
      longest = pass.length[q] > longest ? pass.length[q] : longest;
    const Index blocks = cache_blocks(longest);
    const Index stride = (blocks + 1) * kCacheTokens;
    score<queries>(pass, first, blocks, stride);
    float sums[queries];
    for (int q = 0; q < queries; ++q) {
      float* scores = pass.scores + (first + q) * stride;
      const Index length = pass.length[first + q];
      if (pass.shifted) scores[0] = 0.0F;
      sums[q] = exponentials<float>(length, scores, row_max<float>(length, scores));
      for (Index t = length; t < longest; ++t) scores[t] = 0.0F;
    }
    mix<queries>(pass, first, longest, stride, sums);
  }
  if constexpr (queries > 1)
    if (first < pass.queries) attend_from<queries / 2>(pass, first);
}

inline void attend(const AttentionPass& pass) {
  attend_from<BENCH_VECTOR_BYTES >= 64 ? kMostQueries : kMostQueries / 2>(pass, 0);
}

}  // namespace bench::inference::BENCH_ISA
