// A vocabulary that is divided over ranks, on a CPU.
#pragma once

#include <cmath>
#include <cstring>

#include "training/host/exponential.h"
#include "training/host/simple_host.h"
#include "training/host/vector.h"
#include "training/kernels/checked_id.h"
#include "training/kernels/functors/divided_softmax.h"
#include "training/kernels/kernel_set.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Vocabulary final : public VocabularyKernels {
 public:
  void look_up(View tokens, const VocabularyPart& part, View table, View y) override {
    const auto bytes = static_cast<std::size_t>(table.columns) * sizeof(T);
    for (Index i = 0; i < y.rows; ++i) {
      T* to = y.as<T>() + i * table.columns;
      const Index own = checked_id(tokens, i, part.all) - part.first;
      if (own >= 0 && own < table.rows)
        std::memcpy(to, table.as<T>() + own * table.columns, bytes);
      else
        std::memset(to, 0, bytes);
    }
  }

  void look_up_backward(View tokens, const VocabularyPart& part, View y_gradient,
                        View table_gradient, bool add) override {
    zero_unless<T>(add, table_gradient);
    const Index n = table_gradient.columns;
    for (Index i = 0; i < y_gradient.rows; ++i) {
      const Index own = checked_id(tokens, i, part.all) - part.first;
      if (own < 0 || own >= table_gradient.rows) continue;
      const T* from = y_gradient.as<T>() + i * n;
      T* __restrict to = table_gradient.as<T>() + own * n;
      for (Index j = 0; j < n; ++j) to[j] += from[j];
    }
  }

  void summarize_logits(View logits, View targets, const VocabularyPart& part,
                        View statistics) override {
    const Index n = logits.columns;
    for (Index i = 0; i < logits.rows; ++i) {
      const T* z = logits.as<T>() + i * n;
      const std::int32_t target = targets.as<std::int32_t>()[i];
      if (target >= part.all) refuse_id(i, target, part.all);
      const Index own = target - part.first;
      const T most = row_max<T>(n, z);
      T* row = statistics.as<T>() + i * kLogitStatistics;
      row[static_cast<int>(LogitStatistic::largest)] = most;
      row[static_cast<int>(LogitStatistic::exponentials)] = row_sum<T>(
          n, [=](auto at) { return first_lanes<T>(exponential(at(z) - most), at.count, T{}); });
      row[static_cast<int>(LogitStatistic::target)] = own >= 0 && own < n ? z[own] : T{};
    }
  }

  void cross_entropy(const DividedLoss& what) override {
    const Index n = what.logits.columns, rows = what.logits.rows;
    const int ranks = static_cast<int>(what.statistics.rows / rows);
    for (Index i = 0; i < rows; ++i) {
      const std::int32_t target = what.targets.as<std::int32_t>()[i];
      const DividedSoftmax<T> softmax(what.statistics.as<T>(), i, rows, ranks);
      const bool counts = target >= 0;
      what.losses.as<double>()[i] = counts ? softmax.surprise() : 0.0;
      if (what.gradient_scale == 0.0) continue;
      T* z = what.logits.as<T>() + i * n;
      exponentials<T>(n, z, softmax.largest);
      const T slope = counts ? static_cast<T>(what.gradient_scale) : T{};
      const T scale = slope / static_cast<T>(softmax.exponentials);
      for (Index j = 0; j < n; ++j) z[j] *= scale;
      const Index own = target - what.part.first;
      if (counts && own >= 0 && own < n) z[own] -= slope;
    }
  }
};

}  // namespace bench::training::BENCH_ISA
