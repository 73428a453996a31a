// Attention in tiles (FlashAttention-2, arXiv 2307.08691) on matrix units: bf16, heads of 64 or
// 128. A block of four warps has 64 queries of one head, 16 a warp, and passes over tiles of keys
// with a running softmax. No atomics: results are equal from run to run.
#pragma once

#include "probes/training/kernels/functors/attention_simple.h"
#include "probes/training/kernels/functors/tensor_tile.h"

namespace bench::training {

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
