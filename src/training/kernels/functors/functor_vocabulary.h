// The group of divided vocabularies; see functor_kernels.h.
#pragma once

#include "training/kernels/functors/divided_softmax.h"
#include "training/kernels/functors/functor_kernels.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/vocabulary_kernels.h"

namespace bench::training {

template <class T>
struct EmbeddingPartRows {
  const std::int32_t* tokens;
  const T* table;
  T* y;
  std::int64_t n, table_rows, first, all;
  IdFault* fault;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int64_t token = tokens[row], own = token - first;
    if ((token < 0 || token >= all) && column == 0) report_id(fault, row, tokens[row], all);
    Pack<T, width> pack;
    if (own >= 0 && own < table_rows) {
      pack = load_pack<width>(table + own * n + column);
    } else {
      BENCH_UNROLL
      for (int k = 0; k < width; ++k) pack.at[k] = T(0.0f);
    }
    store_pack(y + row * n + column, pack);
  }
};

/// A block of threads for each row of logits.
template <class T>
struct LogitStatisticRows {
  static constexpr int kBlock = 512;  // threads of a row on a GPU
  const T* logits;
  const std::int32_t* targets;
  float* statistics;
  std::int64_t n, first, all;
  IdFault* fault;

  template <int width, class Block>
  BENCH_BOTH void row(Block& block, std::int64_t i) const {
    const T* z = logits + i * n;
    typename Block::template Per<float> most, exponentials;
    block.each([&](int thread) {
      if (thread == 0 && targets[i] >= all) report_id(fault, i, targets[i], all);
      scan_logits<width, Block>(z, n, thread, most(thread), exponentials(thread));
    });
    const float top = block.max(most);
    block.each([&](int thread) { exponentials(thread) *= expf(most(thread) - top); });
    const float sum = block.sum(exponentials);
    block.each([&](int thread) {
      if (thread != 0) return;
      const std::int64_t own = std::int64_t{targets[i]} - first;
      put(i, LogitStatistic::largest, top);
      put(i, LogitStatistic::exponentials, sum);
      put(i, LogitStatistic::target, own >= 0 && own < n ? static_cast<float>(z[own]) : 0.0f);
    });
  }

 private:
  BENCH_BOTH void put(std::int64_t row, LogitStatistic which, float value) const {
    statistics[row * kLogitStatistics + static_cast<std::int64_t>(which)] = value;
  }
};

/// A block of threads for each row of logits.
template <class T>
struct DividedLossRows {
  static constexpr int kBlock = 512;
  T* logits;
  const std::int32_t* targets;
  const float* statistics;
  double* losses;
  std::int64_t rows, n, first, all;
  int ranks;
  float gradient_scale;  // 0: losses alone

  template <int width, class Block>
  BENCH_BOTH void row(Block& block, std::int64_t i) const {
    T* z = logits + i * n;
    const bool counts = targets[i] >= 0 && targets[i] < all;
    const std::int64_t own = std::int64_t{targets[i]} - first;
    const DividedSoftmax<float> softmax(statistics, i, rows, ranks);
    const float scale = counts ? gradient_scale : 0.0f;
    const float share = scale / static_cast<float>(softmax.exponentials);
    block.each([&](int thread) {
      if (thread == 0) losses[i] = counts ? softmax.surprise() : 0.0;
      if (gradient_scale == 0.0f) return;
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        auto pack = load_pack<width>(z + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          pack.at[k] = T(share * expf(static_cast<float>(pack.at[k]) - softmax.largest) -
                         (counts && j + k == own ? scale : 0.0f));
        store_pack(z + j, pack);
      });
    });
  }
};

template <class T, class Launch>
class FunctorVocabulary final : public VocabularyKernels {
 public:
  explicit FunctorVocabulary(Launch launch) : launch_(launch) {}
  void look_up(View tokens, const VocabularyPart& part, View table, View y) override {
    launch_.template rows<kWidest<T>>(
        EmbeddingPartRows<T>{tokens.as<std::int32_t>(), table.as<T>(), y.as<T>(), table.columns,
                             table.rows, part.first, part.all, launch_.fault()},
        y.rows);
  }
  void look_up_backward(View tokens, const VocabularyPart& part, View y_gradient,
                        View table_gradient, bool add) override {
    add_embedding_gradients<T>(launch_, tokens, part.first, y_gradient, table_gradient, add);
  }
  void summarize_logits(View logits, View targets, const VocabularyPart& part,
                        View statistics) override {
    const LogitStatisticRows<T> body{logits.as<T>(),
                                     targets.as<std::int32_t>(),
                                     statistics.as<float>(),
                                     logits.columns,
                                     part.first,
                                     part.all,
                                     launch_.fault()};
    launch_.template blocks<kWidest<T>>(body, logits.rows, logits.columns);
  }
  void cross_entropy(const DividedLoss& what) override {
    const View& logits = what.logits;
    const DividedLossRows<T> body{logits.as<T>(),
                                  what.targets.as<std::int32_t>(),
                                  what.statistics.as<float>(),
                                  what.losses.as<double>(),
                                  logits.rows,
                                  logits.columns,
                                  what.part.first,
                                  what.part.all,
                                  static_cast<int>(what.statistics.rows / logits.rows),
                                  static_cast<float>(what.gradient_scale)};
    launch_.template blocks<kWidest<T>>(body, logits.rows, logits.columns);
  }

 private:
  Launch launch_;
};

}  // namespace bench::training
