// Initial parameter values: a function of (seed, name, element), so that every rank, shard and
// device produces the same values without communication.
#pragma once

#include <cstdint>
#include <string_view>

#include "probes/training/kernels/view.h"

namespace bench::training {

struct Initial {
  enum class Kind { normal, constant } kind = Kind::normal;
  double value = 0.0;  // the standard deviation, or the constant

  static Initial normal(double deviation) { return {Kind::normal, deviation}; }
  static Initial constant(double value) { return {Kind::constant, value}; }
};

/// Fills f32, bf16, f16 or f64; `first` is the number of the view's first element in the parameter.
void fill_initial(const Initial& initial, std::uint64_t seed, std::string_view name,
                  std::int64_t first, View values);

}  // namespace bench::training
