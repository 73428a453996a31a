// The backward pass of attention in tiles. Probabilities are recomputed from log_sum, once for the
// gradient of keys and values and once for that of queries: two more GEMMs than with atomic sums of
// the latter, but every sum has a fixed order. This file: the query gradient, and shared code.
#pragma once

#include "probes/training/kernels/functors/attention_flash.h"

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

}  // namespace bench::training
