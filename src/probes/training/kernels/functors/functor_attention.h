// Attention and rotation made of the bodies of this folder; see functor_kernels.h.
#pragma once

#include <type_traits>

#include "probes/training/kernels/attention.h"
#include "probes/training/kernels/functors/attention_flash_key.h"
#include "probes/training/kernels/functors/row_elements.h"

namespace bench::training {

template <class T, class Launch>
class FunctorRope final : public RopeKernels {
 public:
  explicit FunctorRope(Launch launch) : launch_(launch) {}
  void rotate(const AttentionShape& shape, bool back, View x, View angles, View y,
              bool add) override {
    const std::int64_t half = shape.head_dim / 2;
    const RopePairs<T> body{x.as<T>(),
                            angles.as<float>(),
                            y.as<T>(),
                            shape.sequence,
                            x.columns,
                            half,
                            shape.heads + shape.kv_heads,
                            back,
                            add};
    if (half % kWidest<T> == 0)
      launch_.template rows<kWidest<T>>(body, x.rows);
    else
      launch_.template rows<1>(body, x.rows);
  }

 private:
  Launch launch_;
};

template <class T, class Launch>
class FunctorAttention final : public AttentionKernels {
 public:
  explicit FunctorAttention(Launch launch) : launch_(launch) {}
  void forward(const AttentionShape& shape, View packed, View output, View log_sum) override {
    if constexpr (std::is_same_v<T, Bf16>) {
      if (shape.head_dim == 64) return flash_forward<64>(shape, packed, output, log_sum);
      if (shape.head_dim == 128) return flash_forward<128>(shape, packed, output, log_sum);
    }
    const auto in = packed_heads<const T>(shape, packed.as<T>());
    launch_.units(SimpleAttentionForward<T>{in, output.as<T>(), log_sum.as<float>()}, packed.rows,
                  shape.heads, positions_bytes(shape));
  }
  void backward(const AttentionShape& shape, const AttentionBackward& what) override {
    const AttentionGradients<T> of{packed_heads<const T>(shape, what.packed.as<T>()),
                                   what.output.as<T>(),
                                   what.output_gradient.as<T>(),
                                   what.log_sum.as<float>(),
                                   what.workspace.as<float>(),
                                   what.packed_gradient.as<T>(),
                                   what.add};
    if constexpr (std::is_same_v<T, Bf16>) {
      if (shape.head_dim == 64) return flash_backward<64>(shape, of, what.packed.rows);
      if (shape.head_dim == 128) return flash_backward<128>(shape, of, what.packed.rows);
    }
    launch_.units(SimpleQueryGradient<T>{of}, what.packed.rows, shape.heads,
                  positions_bytes(shape));
    launch_.units(SimpleKeyGradient<T>{of}, what.packed.rows, shape.kv_heads,
                  2 * positions_bytes(shape));
  }

 private:
  static std::int64_t tiles(const AttentionShape& shape, std::int64_t rows) {
    return flash_tiles(shape.sequence) * (rows / shape.sequence);
  }
  template <int dim>
  void flash_forward(const AttentionShape& shape, View packed, View output, View log_sum) {
    const FlashForward<dim> body{packed_heads<const Bf16>(shape, packed.as<Bf16>()),
                                 output.as<Bf16>(), log_sum.as<float>()};
    launch_.units(body, tiles(shape, packed.rows), shape.heads, body.kSharedBytes);
  }
  template <int dim>
  void flash_backward(const AttentionShape& shape, const AttentionGradients<Bf16>& of,
                      std::int64_t rows) {
    launch_.template rows<1>(
        FlashRowSums<dim>{of.output, of.output_gradient, of.row_sums, shape.heads}, rows);
    const FlashQueryGradient<dim> queries{of};
    launch_.units(queries, tiles(shape, rows), shape.heads, queries.kSharedBytes);
    const FlashKeyGradient<dim> keys{of};
    launch_.units(keys, tiles(shape, rows), shape.kv_heads, keys.kSharedBytes);
  }
  static std::int64_t positions_bytes(const AttentionShape& shape) {
    return shape.sequence * std::int64_t{sizeof(float)};
  }
  Launch launch_;
};

}  // namespace bench::training
