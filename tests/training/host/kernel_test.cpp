// Kernels against their definitions, written out, for every instruction set of this CPU.
#include <algorithm>
#include <cmath>
#include <random>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/host/host_kernels.h"

namespace bench::training {
namespace {

using FloatValues = std::vector<float>;

FloatValues random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  FloatValues values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

View float_view(FloatValues& values, std::int64_t rows) {
  return {values.data(), rows, static_cast<std::int64_t>(values.size()) / rows, Dtype::f32};
}

struct ProductSizes {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
};

double worst_of_product(const KernelSet& set, const ProductSizes& s) {
  FloatValues a = random_values(s.m * s.k, 1), b = random_values(s.k * s.n, 2);
  FloatValues c = random_values(s.m * s.n, 3), bias = random_values(s.n, 4);
  const FloatValues before = c;
  GemmOptions product{s.transpose_a, s.transpose_b, float_view(c, s.m), float_view(bias, 1)};
  set.gemm->multiply(product, float_view(a, s.transpose_a ? s.k : s.m),
                     float_view(b, s.transpose_b ? s.n : s.k), float_view(c, s.m));
  double worst = 0.0;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      const auto at = static_cast<std::size_t>(i * s.n + j);
      double sum = static_cast<double>(before[at]) + bias[static_cast<std::size_t>(j)];
      for (std::int64_t p = 0; p < s.k; ++p)
        sum += static_cast<double>(
                   a[static_cast<std::size_t>(s.transpose_a ? p * s.m + i : i * s.k + p)]) *
               b[static_cast<std::size_t>(s.transpose_b ? j * s.k + p : p * s.n + j)];
      worst = std::max(worst, std::abs(sum - c[at]) / std::sqrt(static_cast<double>(s.k)));
    }
  return worst;
}

}  // namespace

TEST_CASE("kernel: GEMMs of all shapes and transpositions are correct to rounding") {
  for (const std::string_view isa : host_kernel_isas()) {
    const KernelSet set = host_kernels(Dtype::f32, isa);
    for (const ProductSizes& s :
         {ProductSizes{1, 1, 1, false, false}, ProductSizes{7, 65, 3, false, false},
          ProductSizes{64, 192, 64, false, false}, ProductSizes{30, 100, 300, false, true},
          ProductSizes{33, 47, 90, true, false}, ProductSizes{400, 20, 17, false, false},
          ProductSizes{400, 70, 513, true, false}, ProductSizes{24, 128, 40, false, true}})
      for (const int turn : {0, 1}) {
        ProductSizes sizes = s;
        if (turn) sizes.transpose_a = !s.transpose_a;
        INFO(isa << " " << s.m << " " << s.n << " " << s.k << " " << sizes.transpose_a);
        CHECK(worst_of_product(set, sizes) < 6e-6);
      }
  }
}

TEST_CASE("kernel: a softmax of logits of any size is finite and sums to one") {
  for (const std::string_view isa : host_kernel_isas()) {
    const KernelSet set = host_kernels(Dtype::f32, isa);
    for (const float shift : {0.0f, 1e4f, -1e4f}) {
      FloatValues logits = random_values(3 * 100, 9);
      for (float& value : logits) value = value * 10.0f + shift;
      const FloatValues before = logits;
      std::int32_t targets[] = {5, 99, 0};
      double losses[3];
      set.loss->cross_entropy(float_view(logits, 3), {targets, 3, 1, Dtype::int32}, 1.0,
                              {losses, 3, 1, Dtype::f64});
      for (std::size_t i = 0; i < 3; ++i) {
        double sum = 0.0, gradient = 0.0;
        for (std::size_t j = 0; j < 100; ++j) {
          sum += std::exp(static_cast<double>(before[i * 100 + j]) - before[i * 100]);
          gradient += logits[i * 100 + j];
        }
        const double expected = std::log(sum) + before[i * 100] -
                                before[i * 100 + static_cast<std::size_t>(targets[i])];
        CHECK(losses[i] == Approx(expected).epsilon(1e-5).margin(2e-3));
        CHECK(std::abs(gradient) < 1e-5);
      }
    }
  }
}

TEST_CASE("kernel: GELU's exponential stays within 1e-6 over the whole range") {
  for (const std::string_view isa : host_kernel_isas()) {
    const KernelSet set = host_kernels(Dtype::f32, isa);
    FloatValues x, y(4001);
    for (int i = 0; i <= 4000; ++i) x.push_back(static_cast<float>(i - 2000) * 0.01f);
    set.activation->gelu_forward(float_view(x, 1), float_view(y, 1));
    double worst = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double v = x[i], u = 0.7978845608028654 * (v + 0.044715 * v * v * v);
      worst =
          std::max(worst, std::abs(0.5 * v * (1.0 + std::tanh(u)) - y[i]) / (1.0 + std::abs(v)));
    }
    CHECK(worst < 1e-6);
  }
}

// GEMMs of subnormal numbers take several times as long.
TEST_CASE("kernel: GELU and its slope are never subnormal, and NaN stays NaN") {
  for (const std::string_view isa : host_kernel_isas()) {
    const KernelSet set = host_kernels(Dtype::f32, isa);
    FloatValues x;
    for (float value = -14.0f; value < 1.0f; value += 0.01f) x.push_back(value);
    x.push_back(std::nanf(""));
    FloatValues y(x.size()), slope(x.size()), ones(x.size(), 1.0f);
    set.activation->gelu_forward(float_view(x, 1), float_view(y, 1));
    set.activation->gelu_backward(float_view(x, 1), float_view(ones, 1), float_view(slope, 1),
                                  false);
    const auto subnormal = [](float value) { return std::fpclassify(value) == FP_SUBNORMAL; };
    INFO(isa);
    CHECK(std::none_of(y.begin(), y.end(), subnormal));
    CHECK(std::none_of(slope.begin(), slope.end(), subnormal));
    CHECK(y.front() == 0.0f);
    CHECK(std::isnan(y.back()));
    CHECK(std::isnan(slope.back()));
  }
}

TEST_CASE("kernel: instruction sets agree on attention to rounding") {
  const AttentionShape shape{70, 4, 2, 16, true, 1};
  FloatValues packed = random_values(2 * 70 * shape.packed_columns(), 5);
  FloatValues first;
  for (const std::string_view isa : host_kernel_isas()) {
    FloatValues output(static_cast<std::size_t>(2 * 70 * shape.output_columns())),
        log_sum(2 * 70 * 4);
    const KernelSet set = host_kernels(Dtype::f32, isa);
    set.attention->forward(shape, float_view(packed, 140), float_view(output, 140),
                           float_view(log_sum, 140));
    if (first.empty()) first = output;
    for (std::size_t i = 0; i < output.size(); ++i) CHECK(std::abs(output[i] - first[i]) < 1e-5f);
  }
}

TEST_CASE("kernel: unavailable element types and instruction sets are refused by name") {
  CHECK_THROWS_WITH(host_kernels(Dtype::fp8_e4m3), Catch::Contains("fp8_e4m3"));
  CHECK_THROWS_WITH(host_kernels(Dtype::f32, "mmx"), Catch::Contains("mmx"));
}

}  // namespace bench::training
