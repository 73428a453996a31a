#include "inference/packed_matrix.h"

#include <cmath>

#include "core/elements.h"
#include "tests/support/catch.h"

namespace bench::inference {
namespace {

/// Rows and columns that fill neither blocks nor panels.
constexpr std::int64_t kMatrixRows = 45, kMatrixColumns = 37;

std::vector<float> some_weights() {
  std::vector<float> weights;
  for (std::uint64_t i = 0; i < kMatrixRows * kMatrixColumns; ++i)
    weights.push_back(static_cast<float>(random_bits(5, i) >> 40) * 0x1p-23F - 1.0F);
  return weights;
}

/// The largest distance of a stored weight from the real one, over the largest weight of its block.
double worst_relative(const PackedMatrix& packed, const std::vector<float>& weights,
                      bool transposed) {
  double worst = 0.0;
  for (std::int64_t j = 0; j < kMatrixColumns; ++j)
    for (std::int64_t i = 0; i < kMatrixRows; ++i) {
      const auto value = [&](std::int64_t row) {
        return weights[static_cast<std::size_t>(transposed ? j * kMatrixRows + row
                                                           : row * kMatrixColumns + j)];
      };
      float largest = 0.0F;
      for (std::int64_t k = i / 32 * 32; k < std::min(i / 32 * 32 + 32, kMatrixRows); ++k)
        largest = std::max(largest, std::fabs(value(k)));
      const double d = std::fabs(packed.at(i, j) - value(i)) / largest;
      if (std::isnan(d)) return d;
      worst = std::max(worst, d);
    }
  return worst;
}

}  // namespace

TEST_CASE("packed weights are those of the matrix, to the precision of their type") {
  const std::vector<float> weights = some_weights();
  for (const bool transposed : {false, true}) {
    const auto worst = [&](WeightType type) {
      const PackedMatrix packed({weights.data(), kMatrixRows, kMatrixColumns, transposed}, type);
      return worst_relative(packed, weights, transposed);
    };
    CHECK(worst(WeightType::f32) == 0.0);
    CHECK(worst(WeightType::bf16) < 0x1p-8);
    CHECK(worst(WeightType::int8) < 0.51 / 127.0 + 0x1p-9);
    // Half a step; nearly one for the weight that is as large as the largest, with another sign.
    CHECK(worst(WeightType::int4) < 1.01 / 8.0);
    CHECK(worst(WeightType::int4) > worst(WeightType::int8));
  }
}

TEST_CASE("packed weights take the bytes of their type, scales included") {
  CHECK(PackedMatrix::bytes(768, 2048, WeightType::f32) == 768 * 2048 * 4);
  CHECK(PackedMatrix::bytes(768, 2048, WeightType::bf16) == 768 * 2048 * 2);
  CHECK(PackedMatrix::bytes(768, 2048, WeightType::int8) == 768 * 2048 / 32 * 34);
  CHECK(PackedMatrix::bytes(768, 2048, WeightType::int4) == 768 * 2048 / 32 * 18);
}

TEST_CASE("a block of zeros stays zero") {
  const std::vector<float> zeros(64 * 32, 0.0F);
  for (const WeightType type : {WeightType::int8, WeightType::int4}) {
    const PackedMatrix packed({zeros.data(), 64, 32}, type);
    for (std::int64_t i = 0; i < 64; ++i) CHECK(packed.at(i, i % 32) == 0.0F);
  }
}

}  // namespace bench::inference
