// Products with packed weights, by every instruction set, against sums in f64.
#include "inference/decoder_kernels.h"

#include <cmath>
#include <limits>
#include <memory>

#include "core/elements.h"
#include "tests/support/catch.h"

namespace bench::inference {
namespace {

constexpr std::int64_t kDepth = 45, kColumns = 37;
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

float some_number(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(random_bits(seed, index) >> 40) * 0x1p-23F - 1.0F;
}

/// Rows in memory of exactly their size, where the sanitizer sees an access outside; before and
/// behind the results are numbers that must stay.
struct Product {
  Product(const DecoderKernels& loops, const PackedMatrix& weights, std::int64_t rows)
      : rows_(rows), from_(new float[static_cast<std::size_t>(rows * kDepth)]) {
    const std::int64_t blocks = weights.blocks();
    const auto all = static_cast<std::size_t>(rows * blocks);
    rounded_.reset(new std::int8_t[all * kBlockRows]);
    scales_.reset(new float[all]);
    starts_.reset(new std::int32_t[all]);
    for (std::int64_t i = 0; i < rows * kDepth; ++i)
      from_[static_cast<std::size_t>(i)] = some_number(11, static_cast<std::uint64_t>(i));
    for (std::int64_t i = 0; i < rows && is_quantised(weights.type()); ++i)
      loops.round(from_.get() + i * kDepth, kDepth, weights.type(),
                  {rounded_.get() + i * blocks * kBlockRows, scales_.get() + i * blocks,
                   starts_.get() + i * blocks});
    to_.assign(static_cast<std::size_t>((rows + 2) * kColumns), 3.0F);
    const MatrixPass pass{.weights = &weights,
                          .from = from_.get(),
                          .rounded = {rounded_.get(), scales_.get(), starts_.get()},
                          .rows = rows,
                          .to = to_.data() + kColumns};
    loops.multiply(pass, 0, weights.panels());
  }

  float at(std::int64_t row, std::int64_t column) const {
    return to_[static_cast<std::size_t>((row + 1) * kColumns + column)];
  }
  /// The largest difference from the products of the stored weights.
  double worst(const PackedMatrix& weights) const {
    double worst = 0.0;
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < kColumns; ++j) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < kDepth; ++k)
          sum += static_cast<double>(from_[static_cast<std::size_t>(i * kDepth + k)]) *
                 static_cast<double>(weights.at(k, j));
        const double distance = std::fabs(sum - static_cast<double>(at(i, j)));
        if (std::isnan(distance)) return distance;
        worst = std::max(worst, distance);
      }
    return worst;
  }
  bool kept_outside() const {
    for (std::int64_t j = 0; j < kColumns; ++j)
      if (at(-1, j) != 3.0F || at(rows_, j) != 3.0F) return false;
    return true;
  }

 private:
  std::int64_t rows_;
  std::unique_ptr<float[]> from_, scales_ = {};
  std::unique_ptr<std::int8_t[]> rounded_ = {};
  std::unique_ptr<std::int32_t[]> starts_ = {};
  std::vector<float> to_ = {};
};

std::vector<float> some_matrix() {
  std::vector<float> values;
  for (std::uint64_t i = 0; i < kDepth * kColumns; ++i) values.push_back(some_number(12, i));
  return values;
}

}  // namespace

TEST_CASE("products have the same bits for any number of rows, within those rows") {
  const std::vector<float> values = some_matrix();
  for (const DecoderKernels* loops : all_decoder_kernels())
    for (const WeightType type :
         {WeightType::f32, WeightType::bf16, WeightType::int8, WeightType::int4}) {
      const PackedMatrix weights({values.data(), kDepth, kColumns}, type);
      const Product most(*loops, weights, 40);
      INFO(loops->isa << " " << to_string(type));
      // Inputs between -1 and 1, rounded to a 254th.
      CHECK(most.worst(weights) < (is_quantised(type) ? 0.1 : 1e-5));
      for (std::int64_t rows = 1; rows < 40; ++rows) {
        const Product product(*loops, weights, rows);
        bool equal = product.kept_outside();
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < kColumns; ++j)
            equal = equal && product.at(i, j) == most.at(i, j);
        INFO(rows << " rows");
        CHECK(equal);
      }
    }
}

TEST_CASE("an input that is no number makes no number of its row's products, and of no other's") {
  const std::vector<float> values = some_matrix();
  for (const DecoderKernels* loops : all_decoder_kernels()) {
    float row[kDepth] = {};
    std::int8_t rounded[2 * kBlockRows];
    float scales[2];
    std::int32_t starts[2];
    for (const float bad : {kNoNumber, std::numeric_limits<float>::infinity()}) {
      row[3] = bad;
      loops->round(row, kDepth, WeightType::int8, {rounded, scales, starts});
      CHECK(std::isnan(scales[0]));
      CHECK(scales[1] == 0.0F);
    }
    row[3] = 1e-38F;  // its reciprocal is infinite
    loops->round(row, kDepth, WeightType::int4, {rounded, scales, starts});
    CHECK(std::isfinite(scales[0]));
    CHECK(starts[0] == 0);
  }
  std::vector<float> damaged = values;
  damaged[5] = kNoNumber;
  CHECK_THROWS(PackedMatrix({damaged.data(), kDepth, kColumns}, WeightType::int8));
}

}  // namespace bench::inference
