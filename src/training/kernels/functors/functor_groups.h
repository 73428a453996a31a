// All kernel groups made of functors: all except GEMMs and BagKernels, which run in host memory.
// Recommender kernels are f32 only.
#pragma once

#include <math.h>

#include <memory>
#include <type_traits>

#include "training/kernels/functors/attention_flash_key.h"
#include "training/kernels/functors/functor_classifier.h"
#include "training/kernels/functors/functor_convolution.h"
#include "training/kernels/functors/functor_detection.h"
#include "training/kernels/functors/functor_diffusion.h"
#include "training/kernels/functors/functor_hstu.h"
#include "training/kernels/functors/functor_kernels.h"
#include "training/kernels/functors/functor_neighbours.h"
#include "training/kernels/functors/functor_policy.h"
#include "training/kernels/functors/functor_vocabulary.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/functors/row_elements.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

// Elementwise bodies of click models, in f32.

/// y may be x.
struct ReluForward {
  const float* x;
  float* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    auto pack = load_pack<width>(x + i);
    // NaN stays NaN: a failed run must not look healthy.
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) pack.at[k] = pack.at[k] < 0.0f ? 0.0f : pack.at[k];
    store_pack(y + i, pack);
  }
};

/// x_gradient may be y_gradient.
struct ReluBackward {
  const float *y, *y_gradient;
  float* x_gradient;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto out = load_pack<width>(y + i), dy = load_pack<width>(y_gradient + i);
    auto dx = load_if<width>(add, x_gradient + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) dx.at[k] += out.at[k] > 0.0f ? dy.at[k] : 0.0f;
    store_pack(x_gradient + i, dx);
  }
};

struct CrossForward {
  const float *x0, *u, *x;
  float* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto a = load_pack<width>(x0 + i), b = load_pack<width>(u + i);
    auto sum = load_pack<width>(x + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sum.at[k] += a.at[k] * b.at[k];
    store_pack(y + i, sum);
  }
};

/// Both gradients in one pass over y's; null ones are absent.
struct CrossGradients {
  const float *x0, *u, *y_gradient;
  float *x0_gradient, *u_gradient;
  bool add_x0, add_u;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto dy = load_pack<width>(y_gradient + i);
    if (x0_gradient) put(dy, load_pack<width>(u + i), x0_gradient + i, add_x0);
    if (u_gradient) put(dy, load_pack<width>(x0 + i), u_gradient + i, add_u);
  }

 private:
  template <int width>
  static BENCH_BOTH void put(const Pack<float, width>& dy, const Pack<float, width>& other,
                             float* gradient, bool add) {
    auto sum = load_if<width>(add, gradient);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sum.at[k] += dy.at[k] * other.at[k];
    store_pack(gradient, sum);
  }
};

/// Copies columns of every row from one matrix to another; `from` and `to` point to the first of
/// them.
struct CopyColumns {
  const float* from;
  float* to;
  std::int64_t from_stride, to_stride;  // elements from row to row
  std::int64_t count;
  bool add;
  BENCH_BOTH std::int64_t columns() const { return count; }
  /// Whether each row's first column is aligned for packs of `width`.
  bool fits(std::int64_t from_column, std::int64_t to_column, int width) const {
    return from_column % width == 0 && to_column % width == 0 && from_stride % width == 0 &&
           to_stride % width == 0;
  }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    float* out = to + row * to_stride + column;
    const auto in = load_pack<width>(from + row * from_stride + column);
    auto sum = load_if<width>(add, out);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sum.at[k] += in.at[k];
    store_pack(out, sum);
  }
};

struct ZeroColumns {
  float* to;  // the first of them in the first row
  std::int64_t stride, count;
  BENCH_BOTH std::int64_t columns() const { return count; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) to[row * stride + column + k] = 0.0f;
  }
};

/// One click a thread.
struct ClickLosses {
  float* logits;
  const float* labels;
  double* losses;
  float gradient_scale;  // 0: losses alone
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    static_assert(width == 1);
    const float z = logits[i], label = labels[i];
    // log(1 + e^z) - label z, without overflow of the exponential.
    const float small = expf(-fabsf(z));
    const float rise = z > 0.0f ? z - label * z : -label * z;
    losses[i] = static_cast<double>(rise) + static_cast<double>(log1pf(small));
    if (gradient_scale == 0.0f) return;
    const float probability = (z > 0.0f ? 1.0f : small) / (1.0f + small);
    logits[i] = gradient_scale * (probability - label);
  }
};

// Dot products of all pairs of a row's features and their gradients, in f32: a block of threads for
// a row, whose features all threads read from shared memory. Every sum has one order.

/// Feature 0 is in `first`, the others are contiguous in `rest`.
struct DotFeatures {
  const float *first, *rest;
  int width, count;

  BENCH_BOTH int pairs() const { return count * (count - 1) / 2; }
  /// Elements of a row of results: the first feature, then the pairs.
  BENCH_BOTH std::int64_t columns() const { return width + pairs(); }
  /// From feature to feature in shared memory: odd, so that threads that read the same element of
  /// different features use different banks.
  BENCH_BOTH int stride() const { return width | 1; }
  std::int64_t shared_bytes() const { return count * stride() * std::int64_t{sizeof(float)}; }

  template <class Block>
  BENCH_BOTH void load(Block& block, std::int64_t row, float* shared) const {
    const float* own = first + row * width;
    const float* others = rest + row * (count - 1) * width;
    block.each([&](int thread) {
      for (int i = thread; i < count * width; i += Block::kThreads)
        shared[i / width * stride() + i % width] = i < width ? own[i] : others[i - width];
    });
  }
};

/// Unit (row, 0). Pairs come in the order (1, 0), (2, 0), (2, 1), (3, 0), ...
struct DotForward {
  DotFeatures z;
  float* y;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t, float* shared) const {
    z.load(block, row, shared);
    block.sync();
    float* out = y + row * z.columns();
    block.each([&](int thread) {
      for (int k = thread; k < z.width; k += Block::kThreads) out[k] = shared[k];
      int i = 1, before = 0;  // pairs of the features below i
      for (int pair = thread; pair < z.pairs(); pair += Block::kThreads) {
        while (pair >= before + i) before += i++;
        out[z.width + pair] =
            product(shared + i * z.stride(), shared + (pair - before) * z.stride());
      }
    });
  }

 private:
  BENCH_BOTH float product(const float* a, const float* b) const {
    float sum = 0.0f;
    for (int k = 0; k < z.width; ++k) sum += a[k] * b[k];
    return sum;
  }
};

/// Unit (row, 0). Feature i's gradient: the sum over all others j of the pair's gradient times
/// feature j; a null one is absent.
struct DotGradients {
  DotFeatures z;
  const float* y_gradient;
  float *first_gradient, *rest_gradient;
  bool add_first, add_rest;

  std::int64_t shared_bytes() const {
    return z.shared_bytes() + z.pairs() * std::int64_t{sizeof(float)};
  }

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t, float* shared) const {
    const float* dy = y_gradient + row * z.columns();
    float* pairs = shared + z.count * z.stride();
    z.load(block, row, shared);
    block.each([&](int thread) {
      for (int i = thread; i < z.pairs(); i += Block::kThreads) pairs[i] = dy[z.width + i];
    });
    block.sync();
    const int elements = rest_gradient ? z.count * z.width : z.width;
    block.each([&](int thread) {
      for (int i = (first_gradient ? 0 : z.width) + thread; i < elements; i += Block::kThreads) {
        const int feature = i / z.width, k = i % z.width;
        const float sum = sum_of_others(shared + k, pairs, feature, feature == 0 ? dy[k] : 0.0f);
        float* to = feature == 0 ? first_gradient + row * z.width + i
                                 : rest_gradient + (row * (z.count - 1) - 1) * z.width + i;
        *to = (feature == 0 ? add_first : add_rest) ? *to + sum : sum;
      }
    });
  }

 private:
  /// Of one element: `column` is that of feature 0.
  BENCH_BOTH float sum_of_others(const float* column, const float* pairs, int feature,
                                 float start) const {
    float lower = start, upper = 0.0f;
    const float* own = pairs + feature * (feature - 1) / 2;
    for (int j = 0; j < feature; ++j) lower += own[j] * column[j * z.stride()];
    for (int j = feature + 1; j < z.count; ++j)
      upper += pairs[j * (j - 1) / 2 + feature] * column[j * z.stride()];
    return lower + upper;
  }
};

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
  void join(const AttentionShape& shape, const AttentionPart& part,
            const AttentionPart& sum) override {
    launch_.template elements<1>(
        JoinAttention<T>{part.output.as<T>(), sum.output.as<T>(), part.log_sum.as<float>(),
                         sum.log_sum.as<float>(), shape.head_dim},
        sum.log_sum.elements());
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

template <class Launch>
class FunctorRecommender final : public RecommenderKernels {
 public:
  explicit FunctorRecommender(Launch launch) : launch_(launch) {}
  void relu_forward(View x, View y) override {
    launch_.template elements<kWide>(ReluForward{x.as<float>(), y.as<float>()}, x.elements());
  }
  void relu_backward(View y, View y_gradient, View x_gradient, bool add) override {
    launch_.template elements<kWide>(
        ReluBackward{y.as<float>(), y_gradient.as<float>(), x_gradient.as<float>(), add},
        y.elements());
  }
  void cross_forward(View x0, View u, View x, View y) override {
    launch_.template elements<kWide>(
        CrossForward{x0.as<float>(), u.as<float>(), x.as<float>(), y.as<float>()}, y.elements());
  }
  void cross_backward(const CrossBackward& what) override {
    if (!what.x0_gradient && !what.u_gradient) return;
    const CrossGradients body{what.x0.as<float>(),
                              what.u.as<float>(),
                              what.y_gradient.as<float>(),
                              what.x0_gradient.as<float>(),
                              what.u_gradient.as<float>(),
                              what.add_x0,
                              what.add_u};
    launch_.template elements<kWide>(body, what.y_gradient.elements());
  }
  void dot_forward(View first, View rest, View y) override {
    const DotForward body{features(first, rest), y.as<float>()};
    launch_.units(body, y.rows, 1, body.z.shared_bytes());
  }
  void dot_backward(const DotBackward& what) override {
    if (!what.first_gradient && !what.rest_gradient) return;
    const DotGradients body{features(what.first, what.rest),
                            what.y_gradient.as<float>(),
                            what.first_gradient.as<float>(),
                            what.rest_gradient.as<float>(),
                            what.add_first,
                            what.add_rest};
    launch_.units(body, what.y_gradient.rows, 1, body.shared_bytes());
  }
  void copy_columns(View from, std::int64_t from_column, View to, std::int64_t to_column,
                    std::int64_t columns, bool add) override {
    const CopyColumns body{from.as<float>() + from_column,
                           to.as<float>() + to_column,
                           from.columns,
                           to.columns,
                           columns,
                           add};
    if (body.fits(from_column, to_column, kWide))
      launch_.template rows<kWide>(body, from.rows);
    else
      launch_.template rows<1>(body, from.rows);
  }
  void zero_columns(View x, std::int64_t column, std::int64_t columns) override {
    launch_.template rows<1>(ZeroColumns{x.as<float>() + column, x.columns, columns}, x.rows);
  }
  void binary_cross_entropy(View logits, View labels, double gradient_scale, View losses) override {
    launch_.template elements<1>(
        ClickLosses{logits.as<float>(), labels.as<float>(), losses.as<double>(),
                    static_cast<float>(gradient_scale)},
        logits.rows);
  }

 private:
  static constexpr int kWide = kWidest<float>;
  static DotFeatures features(View first, View rest) {
    return {first.as<float>(), rest.as<float>(), static_cast<int>(first.columns),
            static_cast<int>(1 + rest.columns / first.columns)};
  }
  Launch launch_;
};

/// Adds them to the set, for tensors of T. Launch may be a reference; see functor_kernels.h.
template <class T, class Launch>
void put_functors(KernelSet& set, Launch launch) {
  set.norm = std::make_unique<FunctorNorm<T, Launch>>(launch);
  set.rope = std::make_unique<FunctorRope<T, Launch>>(launch);
  set.attention = std::make_unique<FunctorAttention<T, Launch>>(launch);
  set.activation = std::make_unique<FunctorActivation<T, Launch>>(launch);
  set.elementwise = std::make_unique<FunctorElementwise<T, Launch>>(launch);
  set.embedding = std::make_unique<FunctorEmbedding<T, Launch>>(launch);
  set.loss = std::make_unique<FunctorLoss<T, Launch>>(launch);
  set.vocabulary = std::make_unique<FunctorVocabulary<T, Launch>>(launch);
  set.diffusion = std::make_unique<FunctorDiffusion<T, Launch>>(launch);
  set.policy = std::make_unique<FunctorPolicy<T, Launch>>(launch);
  set.convolution = std::make_unique<FunctorConvolution<T, Launch>>(launch);
  set.detection = std::make_unique<FunctorDetection<T, Launch>>(launch);
  set.classifier = std::make_unique<FunctorClassifier<T, Launch>>(launch);
  set.hstu = std::make_unique<FunctorHstu<T, Launch>>(launch);
  set.neighbours = std::make_unique<FunctorNeighbours<T, Launch>>(launch);
  set.optimizer = std::make_unique<FunctorUpdates<T, Launch>>(launch);
  if constexpr (std::is_same_v<T, float>)
    set.recommender = std::make_unique<FunctorRecommender<Launch>>(launch);
}

}  // namespace bench::training
