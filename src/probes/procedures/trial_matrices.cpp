#include "probes/procedures/trial_matrices.h"

#include <algorithm>

#include "core/block_scaled.h"

namespace bench {
namespace {

// No power of two, so that the rows of a matrix are not all alike.
constexpr GemmShape kPattern{1021, 1019, 1056};

std::span<const std::byte> repeated(const std::vector<std::byte>& pattern,
                                    std::vector<std::byte>& made, std::size_t bytes) {
  for (std::size_t at = made.size(); at < bytes; at = made.size()) {
    const std::size_t inside = at % pattern.size();
    const std::size_t more = std::min(pattern.size() - inside, bytes - at);
    const auto from = pattern.begin() + static_cast<std::ptrdiff_t>(inside);
    made.insert(made.end(), from, from + static_cast<std::ptrdiff_t>(more));
  }
  return std::span(made).first(bytes);
}

}  // namespace

TrialMatrices::TrialMatrices(Dtype dtype, std::uint64_t seed)
    : pattern_(make_matrices(kPattern, dtype, MatrixValues::random, seed)) {}

void TrialMatrices::load(GemmPlan& plan, const GemmShape& shape) {
  const auto bytes = [](std::int64_t rows, std::int64_t columns, Dtype dtype) {
    return static_cast<std::size_t>(rows * columns) * size_of(dtype);
  };
  const Dtype dtype = pattern_.dtype;
  plan.load(repeated(pattern_.a, a_, bytes(shape.m, shape.k, dtype_of_a(dtype))),
            repeated(pattern_.b, b_, bytes(shape.k, shape.n, dtype_of_b(dtype))));
  const auto block = static_cast<std::int64_t>(block_of(dtype));
  if (block == 0) return;
  const auto copy = [](std::span<const std::byte> from) {
    return std::vector<std::byte>(from.begin(), from.end());
  };
  const std::int64_t blocks = shape.k / block;
  plan.scale({copy(repeated(pattern_.scales.a, a_scales_, bytes(shape.m, blocks, dtype))),
              copy(repeated(pattern_.scales.b, b_scales_, bytes(blocks, shape.n, dtype))),
              pattern_.scales.tensor});
}

}  // namespace bench
