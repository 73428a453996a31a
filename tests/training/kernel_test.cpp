// Kernels against their definitions, written out, for every instruction set of this CPU.
#include <cmath>
#include <random>

#include "core/error.h"
#include "probes/training/backends/host/host_kernels.h"
#include "tests/support/catch.h"

namespace bench::training {
namespace {

using Values = std::vector<float>;

Values random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Values values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

View view(Values& values, std::int64_t rows) {
  return {values.data(), rows, static_cast<std::int64_t>(values.size()) / rows, Dtype::f32};
}

struct Sizes {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
};

double worst_of_product(const KernelSet& set, const Sizes& s) {
  Values a = random_values(s.m * s.k, 1), b = random_values(s.k * s.n, 2);
  Values c = random_values(s.m * s.n, 3), bias = random_values(s.n, 4);
  const Values before = c;
  Product product{s.transpose_a, s.transpose_b, view(c, s.m), view(bias, 1)};
  set.gemm->multiply(product, view(a, s.transpose_a ? s.k : s.m),
                     view(b, s.transpose_b ? s.n : s.k), view(c, s.m));
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

TEST_CASE("kernel: products of all shapes and transpositions are right to rounding") {
  for (const std::string_view isa : host_kernel_isas()) {
    const KernelSet set = host_kernels(Dtype::f32, isa);
    for (const Sizes& s : {Sizes{1, 1, 1, false, false}, Sizes{7, 65, 3, false, false},
                           Sizes{64, 192, 64, false, false}, Sizes{30, 100, 300, false, true},
                           Sizes{33, 47, 90, true, false}, Sizes{400, 20, 17, false, false},
                           Sizes{400, 70, 513, true, false}, Sizes{24, 128, 40, false, true}})
      for (const int turn : {0, 1}) {
        Sizes sizes = s;
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
      Values logits = random_values(3 * 100, 9);
      for (float& value : logits) value = value * 10.0f + shift;
      const Values before = logits;
      std::int32_t targets[] = {5, 99, 0};
      double losses[3];
      set.loss->cross_entropy(view(logits, 3), {targets, 3, 1, Dtype::int32}, 1.0,
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
    Values x, y(4001);
    for (int i = 0; i <= 4000; ++i) x.push_back(static_cast<float>(i - 2000) * 0.01f);
    set.activation->gelu_forward(view(x, 1), view(y, 1));
    double worst = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double v = x[i], u = 0.7978845608028654 * (v + 0.044715 * v * v * v);
      worst =
          std::max(worst, std::abs(0.5 * v * (1.0 + std::tanh(u)) - y[i]) / (1.0 + std::abs(v)));
    }
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("kernel: instruction sets agree on attention to rounding") {
  const AttentionShape shape{70, 4, 2, 16, true, 1};
  Values packed = random_values(2 * 70 * shape.packed_columns(), 5);
  Values first;
  for (const std::string_view isa : host_kernel_isas()) {
    Values output(static_cast<std::size_t>(2 * 70 * shape.output_columns())), log_sum(2 * 70 * 4);
    const KernelSet set = host_kernels(Dtype::f32, isa);
    set.attention->forward(shape, view(packed, 140), view(output, 140), view(log_sum, 140));
    if (first.empty()) first = output;
    for (std::size_t i = 0; i < output.size(); ++i) CHECK(std::abs(output[i] - first[i]) < 1e-5f);
  }
}

TEST_CASE("kernel: an element type or instruction set that is not there is refused by name") {
  CHECK_THROWS_WITH(host_kernels(Dtype::bf16), Catch::Contains("bf16"));
  CHECK_THROWS_WITH(host_kernels(Dtype::f32, "mmx"), Catch::Contains("mmx"));
}

}  // namespace bench::training
