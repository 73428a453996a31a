// The backward pass of attention in tiles. Probabilities are recomputed from log_sum, once for the
// gradient of keys and values and once for that of queries: two more GEMMs than with atomic sums of
// the latter, but every sum has a fixed order.
#pragma once

#include "training/kernels/functors/attention_flash.h"

namespace bench::training {

/// row_sums[row, head] = output x output_gradient.
template <int dim>
struct FlashRowSums {
  const Bf16 *output, *output_gradient;
  float* row_sums;
  std::int64_t heads;
  BENCH_BOTH std::int64_t columns() const { return heads; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t head) const {
    const std::int64_t at = (row * heads + head) * dim;
    float sum = 0.0f;
    for (int d = 0; d < dim; d += 8) {
      const auto a = load_pack<8>(output + at + d), b = load_pack<8>(output_gradient + at + d);
      BENCH_UNROLL
      for (int k = 0; k < 8; ++k) sum += static_cast<float>(a.at[k]) * static_cast<float>(b.at[k]);
    }
    row_sums[row * heads + head] = sum;
  }
};

/// Two neighbours of the packed gradient.
BENCH_BOTH inline void put_pair(const AttentionGradients<Bf16>& of, const Bf16* from, int d,
                                float first, float second) {
  Bf16* to = of.packed_gradient + (from - of.in.packed) + d;
  const Pair before = of.add ? load_pair(to) : 0;
  store_pair(to, pair_of(first_of(before) + first, second_of(before) + second));
}

/// The gradient of queries: like the forward pass, a block per 64 queries.
template <int dim>
struct FlashQueryGradient {
  static constexpr int kKeys = 32;
  static constexpr int kSharedBytes = 2 * kKeys * kFlashStride<dim> * int{sizeof(Bf16)};
  AttentionGradients<Bf16> of;

  struct Own {
    TileA query[dim / 16], upper[dim / 16];
    TileC result[dim / 8];
    TileC shares[kKeys / 8], slopes[kKeys / 8];
    float log_sum[2], row_sum[2];
  };

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t tile, std::int64_t head, float* shared) const {
    const PackedHeads<const Bf16>& in = of.in;
    const std::int64_t tiles = flash_tiles(in.sequence);
    const std::int64_t s = tile / tiles, q0 = (tiles - 1 - tile % tiles) * kFlashRows;
    const std::int64_t kv = head / in.group();
    auto* keys = reinterpret_cast<Bf16*>(shared);
    Bf16* values = keys + kKeys * kFlashStride<dim>;
    typename Block::template Per<Own> own;
    block.each([&](int thread) { start(own(thread), s, head, q0, thread); });
    const std::int64_t last = q0 + kFlashRows;
    const std::int64_t end = in.causal && last < in.sequence ? last : in.sequence;
    for (std::int64_t k0 = 0; k0 < end; k0 += kKeys) {
      block.sync();
      const auto key = [&](std::int64_t j) { return in.key(s, kv, j); };
      const auto value = [&](std::int64_t j) { return in.value(s, kv, j); };
      load_tile<dim>(block, key, k0, kKeys, in.sequence, keys);
      load_tile<dim>(block, value, k0, kKeys, in.sequence, values);
      block.sync();
      BENCH_UNROLL
      for (int n = 0; n < kKeys / 8; ++n) {
        block.each([&](int thread) { own(thread).shares[n] = own(thread).slopes[n] = {}; });
        BENCH_UNROLL
        for (int k = 0; k < dim / 16; ++k) {
          multiply_tiles(
              block, [&](int thread) -> TileC& { return own(thread).shares[n]; },
              [&](int thread) { return own(thread).query[k]; },
              [&](int thread) {
                return load_b_rows(keys, kFlashStride<dim>, 8 * n, 16 * k, thread);
              });
          multiply_tiles(
              block, [&](int thread) -> TileC& { return own(thread).slopes[n]; },
              [&](int thread) { return own(thread).upper[k]; },
              [&](int thread) {
                return load_b_rows(values, kFlashStride<dim>, 8 * n, 16 * k, thread);
              });
        }
      }
      block.each([&](int thread) { slope(own(thread), q0, k0, thread); });
      add_product<kKeys, dim>(
          block, keys, [&](int thread) { return own(thread).slopes; },
          [&](int thread) { return own(thread).result; });
    }
    block.each([&](int thread) { finish(own(thread), s, head, q0, thread); });
  }

 private:
  BENCH_BOTH void start(Own& own, std::int64_t s, std::int64_t head, std::int64_t q0,
                        int thread) const {
    const PackedHeads<const Bf16>& in = of.in;
    const Bf16* upper = of.output_gradient + (s * in.sequence * in.heads + head) * dim;
    BENCH_UNROLL
    for (int k = 0; k < dim / 16; ++k) {
      own.query[k] = load_a(in.query(s, head, 0), in.width, q0 + thread / 32 * 16, in.sequence,
                            16 * k, thread);
      own.upper[k] =
          load_a(upper, in.heads * dim, q0 + thread / 32 * 16, in.sequence, 16 * k, thread);
    }
    BENCH_UNROLL
    for (int n = 0; n < dim / 8; ++n) own.result[n] = {};
    BENCH_UNROLL
    for (int row = 0; row < 2; ++row) {
      const std::int64_t q = q0 + thread / 32 * 16 + row_in_tile(thread, 2 * row);
      const std::int64_t at = (s * in.sequence + q) * in.heads + head;
      own.log_sum[row] = q < in.sequence ? of.log_sum[at] : 0.0f;
      own.row_sum[row] = q < in.sequence ? of.row_sums[at] : 0.0f;
    }
  }

  BENCH_BOTH void slope(Own& own, std::int64_t q0, std::int64_t k0, int thread) const {
    const float scale = 1.0f / sqrtf(static_cast<float>(dim));
    BENCH_UNROLL
    for (int n = 0; n < kKeys / 8; ++n) BENCH_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::int64_t q = q0 + thread / 32 * 16 + row_in_tile(thread, i);
      const std::int64_t k = k0 + 8 * n + column_in_tile(thread, i);
      const bool sees = q < of.in.sequence && k < of.in.sequence && k < of.in.seen(q);
      const float share = exp2f((own.shares[n].v[i] * scale - own.log_sum[i / 2]) * kLog2e);
      float& slope = own.slopes[n].v[i];
      slope = sees ? share * (slope - own.row_sum[i / 2]) * scale : 0.0f;
    }
  }

  BENCH_BOTH void finish(const Own& own, std::int64_t s, std::int64_t head, std::int64_t q0,
                         int thread) const {
    BENCH_UNROLL
    for (int row = 0; row < 2; ++row) {
      const std::int64_t q = q0 + thread / 32 * 16 + row_in_tile(thread, 2 * row);
      if (q >= of.in.sequence) continue;
      BENCH_UNROLL
      for (int n = 0; n < dim / 8; ++n)
        put_pair(of, of.in.query(s, head, q), 8 * n + 2 * place_of(thread),
                 own.result[n].v[2 * row], own.result[n].v[2 * row + 1]);
    }
  }
};

/// The gradients of keys and values: a block for 64 keys of one head passes over the queries that
/// see them, of all query heads that share it. Tiles are [keys, queries].
template <int dim>
struct FlashKeyGradient {
  static constexpr int kQueries = 32;
  static constexpr int kTile = kFlashRows * kFlashStride<dim>;
  static constexpr int kQueryTile = kQueries * kFlashStride<dim>;
  static constexpr int kSharedBytes =
      2 * (kTile + kQueryTile) * int{sizeof(Bf16)} + 2 * kQueries * int{sizeof(float)};
  AttentionGradients<Bf16> of;

  struct Own {
    TileC key[dim / 8], value[dim / 8];
    TileC shares[kQueries / 8], slopes[kQueries / 8];
  };
  struct Shared {
    float *log_sum, *row_sum;
    Bf16 *keys, *values, *queries, *upper;
  };

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t tile, std::int64_t kv, float* memory) const {
    const PackedHeads<const Bf16>& in = of.in;
    const std::int64_t tiles = flash_tiles(in.sequence);
    const std::int64_t s = tile / tiles, k0 = tile % tiles * kFlashRows;
    auto* first = reinterpret_cast<Bf16*>(memory + 2 * kQueries);
    const Shared shared{memory,        memory + kQueries, first,
                        first + kTile, first + 2 * kTile, first + 2 * kTile + kQueryTile};
    const auto key = [&](std::int64_t j) { return in.key(s, kv, j); };
    const auto value = [&](std::int64_t j) { return in.value(s, kv, j); };
    load_tile<dim>(block, key, k0, kFlashRows, in.sequence, shared.keys);
    load_tile<dim>(block, value, k0, kFlashRows, in.sequence, shared.values);
    typename Block::template Per<Own> own;
    block.each([&](int thread) {
      BENCH_UNROLL
      for (int n = 0; n < dim / 8; ++n) own(thread).key[n] = own(thread).value[n] = {};
    });
    const std::int64_t begin = in.causal ? k0 : 0;
    for (std::int64_t head = kv * in.group(); head < (kv + 1) * in.group(); ++head)
      for (std::int64_t q0 = begin; q0 < in.sequence; q0 += kQueries) {
        block.sync();
        load_queries(block, shared, s, head, q0);
        block.sync();
        score(block, own, shared);
        block.each([&](int thread) { slope(own(thread), shared, q0, k0, thread); });
        add_product<kQueries, dim>(
            block, shared.upper, [&](int thread) { return own(thread).shares; },
            [&](int thread) { return own(thread).value; });
        add_product<kQueries, dim>(
            block, shared.queries, [&](int thread) { return own(thread).slopes; },
            [&](int thread) { return own(thread).key; });
      }
    block.each([&](int thread) { finish(own(thread), s, kv, k0, thread); });
  }

 private:
  template <class Block>
  BENCH_BOTH void load_queries(Block& block, const Shared& shared, std::int64_t s,
                               std::int64_t head, std::int64_t q0) const {
    const PackedHeads<const Bf16>& in = of.in;
    const auto statistic = [&](std::int64_t q) { return (s * in.sequence + q) * in.heads + head; };
    const auto query = [&](std::int64_t q) { return in.query(s, head, q); };
    const auto upper = [&](std::int64_t q) { return of.output_gradient + statistic(q) * dim; };
    load_tile<dim>(block, query, q0, kQueries, in.sequence, shared.queries);
    load_tile<dim>(block, upper, q0, kQueries, in.sequence, shared.upper);
    block.each([&](int thread) {
      if (thread >= kQueries) return;
      const bool there = q0 + thread < in.sequence;
      shared.log_sum[thread] = there ? of.log_sum[statistic(q0 + thread)] : 0.0f;
      shared.row_sum[thread] = there ? of.row_sums[statistic(q0 + thread)] : 0.0f;
    });
  }

  template <class Block, class Owns>
  BENCH_BOTH void score(Block& block, Owns& own, const Shared& shared) const {
    block.each([&](int thread) {
      BENCH_UNROLL
      for (int n = 0; n < kQueries / 8; ++n) own(thread).shares[n] = own(thread).slopes[n] = {};
    });
    BENCH_UNROLL
    for (int k = 0; k < dim / 16; ++k) {
      BENCH_UNROLL
      for (int n = 0; n < kQueries / 8; ++n) {
        const auto product = [&](auto to, const Bf16* rows, const Bf16* columns) {
          multiply_tiles(
              block, to,
              [&](int thread) {
                return load_a(rows, kFlashStride<dim>, thread / 32 * 16, kFlashRows, 16 * k,
                              thread);
              },
              [&](int thread) {
                return load_b_rows(columns, kFlashStride<dim>, 8 * n, 16 * k, thread);
              });
        };
        product([&](int thread) -> TileC& { return own(thread).shares[n]; }, shared.keys,
                shared.queries);
        product([&](int thread) -> TileC& { return own(thread).slopes[n]; }, shared.values,
                shared.upper);
      }
    }
  }

  BENCH_BOTH void slope(Own& own, const Shared& shared, std::int64_t q0, std::int64_t k0,
                        int thread) const {
    const float scale = 1.0f / sqrtf(static_cast<float>(dim));
    BENCH_UNROLL
    for (int n = 0; n < kQueries / 8; ++n) BENCH_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int column = 8 * n + column_in_tile(thread, i);
      const std::int64_t q = q0 + column, k = k0 + thread / 32 * 16 + row_in_tile(thread, i);
      const bool sees = q < of.in.sequence && k < of.in.sequence && k < of.in.seen(q);
      float &share = own.shares[n].v[i], &slope = own.slopes[n].v[i];
      share = sees ? exp2f((share * scale - shared.log_sum[column]) * kLog2e) : 0.0f;
      slope = share * (slope - shared.row_sum[column]) * scale;
    }
  }

  BENCH_BOTH void finish(const Own& own, std::int64_t s, std::int64_t kv, std::int64_t k0,
                         int thread) const {
    const PackedHeads<const Bf16>& in = of.in;
    BENCH_UNROLL
    for (int row = 0; row < 2; ++row) {
      const std::int64_t k = k0 + thread / 32 * 16 + row_in_tile(thread, 2 * row);
      if (k >= in.sequence) continue;
      const Bf16 *key = in.key(s, kv, k), *value = in.value(s, kv, k);
      // No query sees the last key of a shifted head.
      const bool unseen = kv < in.shifted && k == in.sequence - 1;
      const Bf16* last = in.packed + (s * in.sequence + k) * in.width + (in.heads + kv) * dim;
      BENCH_UNROLL
      for (int n = 0; n < dim / 8; ++n) {
        const int d = 8 * n + 2 * place_of(thread), i = 2 * row;
        if (key) put_pair(of, key, d, own.key[n].v[i], own.key[n].v[i + 1]);
        put_pair(of, value, d, own.value[n].v[i], own.value[n].v[i + 1]);
        if (unseen) put_pair(of, last, d, 0.0f, 0.0f);
      }
    }
  }
};

}  // namespace bench::training
