// The group of policies; see functor_kernels.h.
#pragma once

#include "training/kernels/functors/functor_kernels.h"
#include "training/kernels/functors/policy_row.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/policy_kernels.h"

namespace bench::training {

/// Row i of the new keys and values: position first + i mod count of sequence i / count, `copies`
/// times.
template <class T>
struct StoreKeys {
  const T* packed;
  T* cache;
  std::int64_t packed_columns, n;  // n: columns of the cache
  std::int64_t count, first, capacity, copies;

  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const auto pack =
        load_pack<width>(packed + row * packed_columns + (packed_columns - n) + column);
    const std::int64_t sequence = row / count * copies, position = first + row % count;
    for (std::int64_t copy = 0; copy < copies; ++copy)
      store_pack(cache + ((sequence + copy) * capacity + position) * n + column, pack);
  }
};

/// One thread per query head, with a running softmax: decoding reads each key once, so it is
/// limited by memory, not by arithmetic.
template <class T>
struct AttendHeads {
  static constexpr int kLargestHead = 256;
  const T *packed, *cache;
  T* output;
  std::int64_t heads, kv_heads, dim, shifted, capacity, position;
  float scale;

  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const std::int64_t sequence = i / heads, head = i % heads, kv = head / (heads / kv_heads);
    const T* query = packed + (sequence * (heads + 2 * kv_heads) + head) * dim;
    float sums[kLargestHead], most = -1e30f, weights = 0.0f;
    for (std::int64_t d = 0; d < dim; ++d) sums[d] = 0.0f;
    for (std::int64_t t = 0; t <= position; ++t) {
      const float score = scale * product(query, sequence, kv, t);
      const float top = fmaxf(most, score), keep = expf(most - top), weight = expf(score - top);
      const T* value = at_position(sequence, t) + (kv_heads + kv) * dim;
      for (std::int64_t d = 0; d < dim; ++d)
        sums[d] = sums[d] * keep + weight * static_cast<float>(value[d]);
      weights = weights * keep + weight;
      most = top;
    }
    for (std::int64_t d = 0; d < dim; ++d) output[i * dim + d] = T(sums[d] / weights);
  }

 private:
  BENCH_BOTH const T* at_position(std::int64_t sequence, std::int64_t t) const {
    return cache + (sequence * capacity + t) * 2 * kv_heads * dim;
  }
  BENCH_BOTH float product(const T* query, std::int64_t sequence, std::int64_t kv,
                           std::int64_t t) const {
    if (kv < shifted && t == 0) return 0.0f;
    const T* key = at_position(sequence, kv < shifted ? t - 1 : t) + kv * dim;
    float sum = 0.0f;
    for (std::int64_t d = 0; d < dim; ++d)
      sum += static_cast<float>(query[d]) * static_cast<float>(key[d]);
    return sum;
  }
};

/// One thread per row, in three passes over its logits.
template <class T>
struct ChooseTokens {
  const T* logits;
  const float* chances;
  std::int32_t* tokens;
  float* log_probabilities;
  std::int64_t n;
  float sharpness;  // 1 / temperature; 0: the likeliest token

  template <int width>
  BENCH_BOTH void at(std::int64_t row) const {
    const T* z = logits + row * n;
    std::int64_t best = 0;
    for (std::int64_t j = 1; j < n; ++j)
      if (static_cast<float>(z[j]) > static_cast<float>(z[best])) best = j;
    const float top = static_cast<float>(z[best]);
    double plain = 0.0, sharp = 0.0;
    for (std::int64_t j = 0; j < n; ++j) {
      const float below = static_cast<float>(z[j]) - top;
      plain += static_cast<double>(expf(below));
      sharp += static_cast<double>(expf(below * sharpness));
    }
    const std::int64_t chosen = sharpness == 0.0f ? best : drawn(z, top, sharp, chances[row]);
    tokens[row] = static_cast<std::int32_t>(chosen);
    log_probabilities[row] =
        static_cast<float>(static_cast<double>(static_cast<float>(z[chosen]) - top) - log(plain));
  }

 private:
  BENCH_BOTH std::int64_t drawn(const T* z, float top, double sum, float chance) const {
    double left = static_cast<double>(chance) * sum;
    std::int64_t last = 0;  // of those with a probability: rounding may leave a rest
    for (std::int64_t j = 0; j < n; ++j) {
      const double weight = static_cast<double>(expf((static_cast<float>(z[j]) - top) * sharpness));
      if (weight > 0.0) last = j;
      if (left < weight) return j;
      left -= weight;
    }
    return last;
  }
};

template <class T, class Launch>
class FunctorPolicy final : public PolicyKernels {
 public:
  explicit FunctorPolicy(Launch launch) : launch_(launch) {}
  void loss(const PolicyLoss& what) override {
    const SoftmaxLossRows<T, PolicyRow> body{what.logits.as<T>(),
                                             what.targets.as<std::int32_t>(),
                                             what.losses.as<double>(),
                                             what.logits.columns,
                                             static_cast<float>(what.gradient_scale),
                                             launch_.fault(),
                                             {what.terms.as<float>(), what.clip}};
    launch_.template blocks<kWidest<T>>(body, what.logits.rows, what.logits.columns);
  }
  void store(const AttentionShape& shape, View packed, std::int64_t sequences, std::int64_t first,
             View cache) override {
    const StoreKeys<T> body{packed.as<T>(),          cache.as<T>(),
                            packed.columns,          cache.columns,
                            packed.rows / sequences, first,
                            shape.sequence,          cache.rows / shape.sequence / sequences};
    // Keys begin inside of packed rows, where packs must be aligned too.
    if (shape.head_dim % kWidest<T> == 0)
      launch_.template rows<kWidest<T>>(body, packed.rows);
    else
      launch_.template rows<1>(body, packed.rows);
  }
  void attend(const AttentionShape& shape, View packed, std::int64_t position, View cache,
              View output) override {
    if (shape.head_dim > AttendHeads<T>::kLargestHead)
      throw Error(ErrorKind::internal, "decoding: a head is larger than 256");
    const AttendHeads<T> body{packed.as<T>(),
                              cache.as<T>(),
                              output.as<T>(),
                              shape.heads,
                              shape.kv_heads,
                              shape.head_dim,
                              shape.shifted_kv_heads,
                              shape.sequence,
                              position,
                              1.0f / sqrtf(static_cast<float>(shape.head_dim))};
    launch_.template elements<1>(body, packed.rows * shape.heads);
  }
  void choose(View logits, View chances, double temperature, View tokens,
              View log_probabilities) override {
    const ChooseTokens<T> body{logits.as<T>(),
                               chances.as<float>(),
                               tokens.as<std::int32_t>(),
                               log_probabilities.as<float>(),
                               logits.columns,
                               temperature > 0.0 ? static_cast<float>(1.0 / temperature) : 0.0f};
    launch_.template elements<1>(body, logits.rows);
  }

 private:
  Launch launch_;
};

}  // namespace bench::training
