// Generation with cached keys and values, and the loss of a policy gradient, on a CPU.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "training/host/exponential.h"
#include "training/host/simple_host.h"
#include "training/host/vector.h"
#include "training/kernels/functors/policy_row.h"
#include "training/kernels/kernel_set.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Policy final : public PolicyKernels {
 public:
  void loss(const PolicyLoss& what) override {
    const PolicyRow rule{what.terms.as<float>(), what.clip};
    const Index n = what.logits.columns;
    for (Index i = 0; i < what.logits.rows; ++i)
      what.losses.as<double>()[i] =
          softmax_loss(i, n, what.logits.as<T>() + i * n, what.targets.as<std::int32_t>()[i],
                       what.gradient_scale, rule);
  }

  void store(const AttentionShape& shape, View packed, std::int64_t sequences, std::int64_t first,
             View cache) override {
    const Index count = packed.rows / sequences;
    const Index copies = cache.rows / shape.sequence / sequences;
    for (Index i = 0; i < packed.rows; ++i) {
      const T* from = packed.as<T>() + (i + 1) * packed.columns - cache.columns;
      for (Index copy = 0; copy < copies; ++copy)
        std::memcpy(position_of(shape, cache, i / count * copies + copy, first + i % count), from,
                    static_cast<std::size_t>(cache.columns) * sizeof(T));
    }
  }

  void attend(const AttentionShape& shape, View packed, std::int64_t position, View cache,
              View output) override {
    scores_.resize(static_cast<std::size_t>(position + 1));
    for (Index s = 0; s < packed.rows; ++s)
      for (Index head = 0; head < shape.heads; ++head)
        one_head(shape, packed.as<T>() + s * packed.columns + head * shape.head_dim, s, head,
                 position, cache, output.as<T>() + s * output.columns + head * shape.head_dim);
  }

  void choose(View logits, View chances, double temperature, View tokens,
              View log_probabilities) override {
    const Index n = logits.columns;
    weights_.resize(static_cast<std::size_t>(n));
    for (Index i = 0; i < logits.rows; ++i) {
      const T* z = logits.as<T>() + i * n;
      const T most = row_max<T>(n, z);
      const Index chosen =
          temperature > 0.0 ? drawn(z, n, most, temperature, chances, i) : likeliest(z, n);
      std::memcpy(weights_.data(), z, static_cast<std::size_t>(n) * sizeof(T));
      const T sum = exponentials<T>(n, weights_.data(), most);
      tokens.as<std::int32_t>()[i] = static_cast<std::int32_t>(chosen);
      log_probabilities.as<float>()[i] = static_cast<float>(static_cast<double>(z[chosen] - most) -
                                                            std::log(static_cast<double>(sum)));
    }
  }

 private:
  /// The first one; of a row without numbers, the first token.
  static Index likeliest(const T* z, Index n) {
    Index best = 0;
    for (Index j = 1; j < n; ++j)
      if (z[j] > z[best]) best = j;
    return best;
  }

  static T* position_of(const AttentionShape& shape, View cache, Index sequence, Index position) {
    return cache.as<T>() + (sequence * shape.sequence + position) * cache.columns;
  }

  void one_head(const AttentionShape& shape, const T* query, Index sequence, Index head,
                Index position, View cache, T* output) {
    const Index d = shape.head_dim, kv = head / (shape.heads / shape.kv_heads);
    const Index shift = kv < shape.shifted_kv_heads ? 1 : 0;
    const T scale = T{1} / std::sqrt(static_cast<T>(d));
    T* scores = scores_.data();
    for (Index t = 0; t <= position; ++t) {
      if (t < shift) {
        scores[t] = T{};
        continue;
      }
      const T* key = position_of(shape, cache, sequence, t - shift) + kv * d;
      scores[t] = scale * row_sum<T>(d, [=](auto at) { return at(query) * at(key); });
    }
    const T sum = exponentials<T>(position + 1, scores, row_max<T>(position + 1, scores));
    each_vector<T>(d, [&](auto at) {
      Vec<T> mixed = {};
      for (Index t = 0; t <= position; ++t)
        mixed += scores[t] * at(position_of(shape, cache, sequence, t) + (shape.kv_heads + kv) * d);
      at.put(output, mixed / sum);
    });
  }

  Index drawn(const T* z, Index n, T most, double temperature, View chances, Index row) {
    const T sharpness = static_cast<T>(1.0 / temperature);
    T* weights = weights_.data();
    for (Index j = 0; j < n; ++j) weights[j] = (z[j] - most) * sharpness;
    const T sum = exponentials<T>(n, weights, T{});
    double left = static_cast<double>(chances.as<float>()[row]) * static_cast<double>(sum);
    Index last = 0;  // of those with a probability: rounding may leave a rest
    for (Index j = 0; j < n; ++j) {
      if (weights[j] > T{}) last = j;
      if (left < static_cast<double>(weights[j])) return j;
      left -= static_cast<double>(weights[j]);
    }
    return last;
  }

  std::vector<T> scores_ = {}, weights_ = {};
};

}  // namespace bench::training::BENCH_ISA
