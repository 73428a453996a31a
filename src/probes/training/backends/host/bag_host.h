// Sums of table rows on one thread. Tables are f32 for any compute type of the graph.
#pragma once

#include "probes/training/backends/host/vector.h"
#include "probes/training/kernels/bag.h"

namespace bench::training::BENCH_ISA {

class Bags final : public BagKernels {
 public:
  void pool(const BagIds& ids, View table, std::int64_t first_row, float* y,
            std::int64_t y_stride) override {
    const Index n = table.columns;
    for (Index bag = 0; bag < ids.bags; ++bag) {
      float* out = y + bag * y_stride;
      bool begun = false;
      for (Index i = 0; i < ids.lookups; ++i) {
        const Index row = ids.data[bag * ids.stride + i] - first_row;
        if (row < 0 || row >= table.rows) continue;
        const float* in = table.as<float>() + row * n;
        if (begun)
          each_vector<float>(n, [=](auto at) { at.put(out, at(out) + at(in)); });
        else
          each_vector<float>(n, [=](auto at) { at.put(out, at(in)); });
        begun = true;
      }
      if (!begun) each_vector<float>(n, [=](auto at) { at.put(out, Vec<float>{}); });
    }
  }

  void add(const BagIds& slots, const float* y_gradient, std::int64_t y_stride, float scale,
           View sums) override {
    const Index n = sums.columns;
    for (Index bag = 0; bag < slots.bags; ++bag) {
      const float* in = y_gradient + bag * y_stride;
      for (Index i = 0; i < slots.lookups; ++i) {
        const Index slot = slots.data[bag * slots.stride + i];
        if (slot < 0) continue;
        float* out = sums.as<float>() + slot * n;
        each_vector<float>(n, [=](auto at) { at.put(out, at(out) + scale * at(in)); });
      }
    }
  }
};

}  // namespace bench::training::BENCH_ISA
