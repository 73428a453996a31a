// A row-major product as cuBLASLt, which counts columns first, is to be asked for it. Pure, so that
// it is tested without a GPU.
#pragma once

#include <cstdint>

#include "probes/training/kernels/gemm.h"

namespace bench::training {

struct LtMatrix {
  std::int64_t rows = 0, columns = 0;  // as it lies in memory, columns first; leading = rows
  bool transpose = false;
  bool operator==(const LtMatrix&) const = default;
};

/// C = A B in rows is C' = B' A' in columns.
struct LtLayout {
  LtMatrix first, second, result;
  bool addend = false;  // C and beta = 1
  bool in_place = false;
  bool bias = false;  // along the result's rows
  GeluStep gelu = GeluStep::none;
  Dtype dtype = Dtype::f32;
  bool operator==(const LtLayout&) const = default;
};

inline LtLayout lt_layout(const GemmOptions& product, View a, View b, View c) {
  LtLayout layout;
  layout.first = {b.columns, b.rows, product.transpose_b};
  layout.second = {a.columns, a.rows, product.transpose_a};
  layout.result = {c.columns, c.rows, false};
  layout.addend = static_cast<bool>(product.addend);
  layout.in_place = layout.addend && product.addend.data == c.data;
  layout.bias = static_cast<bool>(product.bias);
  layout.gelu = product.gelu;
  layout.dtype = c.dtype;
  return layout;
}

}  // namespace bench::training
