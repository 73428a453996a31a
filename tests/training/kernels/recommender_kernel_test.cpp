// Kernels of recommendation against what their headers say, number by number, on every instruction
// set and as a GPU's functors, in f32.
#include <cmath>
#include <limits>
#include <string>

#include "tests/support/catch.h"
#include "tests/training/functor_set.h"

namespace bench::training {
namespace {

View floats(std::vector<float>& values, std::int64_t columns) {
  return {values.data(), static_cast<std::int64_t>(values.size()) / columns, columns, Dtype::f32};
}

struct NamedKernels {
  std::string name;
  KernelSet set;
};
std::vector<NamedKernels> kernels_of_all(HostLaunch& launch) {
  std::vector<NamedKernels> all;
  for (const std::string_view isa : host_kernel_isas())
    all.push_back({std::string(isa), host_kernels(Dtype::f32, isa)});
  all.push_back({"functors", functor_kernels(launch, Dtype::f32)});
  return all;
}

std::vector<float> wave(std::size_t count, double pitch) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(std::sin(pitch * static_cast<double>(i + 1)));
  return values;
}

}  // namespace

TEST_CASE("the dot interaction is ordered (1,0), (2,0), (2,1) after the first feature") {
  constexpr std::int64_t kFeatures = 13, kWidth = 16, kRows = 3;
  HostLaunch launch;
  for (const auto& [name, kernels] : kernels_of_all(launch)) {
    std::vector<float> first = wave(kRows * kWidth, 0.37);
    std::vector<float> rest = wave(kRows * kWidth * (kFeatures - 1), 0.73);
    const std::int64_t columns = kWidth + kFeatures * (kFeatures - 1) / 2;
    std::vector<float> y(static_cast<std::size_t>(kRows * columns));
    kernels.recommender->dot_forward(floats(first, kWidth), floats(rest, kWidth * (kFeatures - 1)),
                                     floats(y, columns));
    const auto feature = [&](std::int64_t row, std::int64_t i) {
      return i == 0 ? &first[static_cast<std::size_t>(row * kWidth)]
                    : &rest[static_cast<std::size_t>((row * (kFeatures - 1) + i - 1) * kWidth)];
    };
    double worst = 0;
    for (std::int64_t row = 0; row < kRows; ++row) {
      const float* out = &y[static_cast<std::size_t>(row * columns)];
      for (std::int64_t k = 0; k < kWidth; ++k) CHECK(*out++ == feature(row, 0)[k]);
      for (std::int64_t i = 1; i < kFeatures; ++i)
        for (std::int64_t j = 0; j < i; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < kWidth; ++k)
            sum += static_cast<double>(feature(row, i)[k]) * feature(row, j)[k];
          worst = std::max(worst, std::abs(*out++ - sum));
        }
    }
    INFO(name);
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("the click loss is correct for overflowing scores and keeps NaN") {
  HostLaunch launch;
  for (const auto& [name, kernels] : kernels_of_all(launch)) {
    INFO(name);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> scores = {0.0f, 200.0f, 200.0f, -200.0f, 2.0f, nan};
    std::vector<float> labels = {1, 1, 0, 1, 0, 1};
    std::vector<double> losses(6);
    const View to{losses.data(), 6, 1, Dtype::f64};
    kernels.recommender->binary_cross_entropy(floats(scores, 1), floats(labels, 1), 0.0, to);
    CHECK(scores[4] == 2.0f);  // an evaluation leaves them
    CHECK(losses[0] == Approx(std::log(2.0)));
    CHECK(losses[1] == 0.0);
    CHECK(losses[2] == 200.0);
    CHECK(losses[3] == 200.0);
    CHECK(losses[4] == Approx(std::log1p(std::exp(2.0))));
    CHECK(std::isnan(losses[5]));
    kernels.recommender->binary_cross_entropy(floats(scores, 1), floats(labels, 1), 0.5, to);
    CHECK(scores[0] == -0.25f);
    CHECK(scores[2] == 0.5f);
    CHECK(scores[4] == Approx(0.5 / (1 + std::exp(-2.0))));
    std::vector<float> x = {-1.0f, 3.0f, nan};
    kernels.recommender->relu_forward(floats(x, 3), floats(x, 3));
    CHECK(x[0] == 0.0f);
    CHECK(x[1] == 3.0f);
    CHECK(std::isnan(x[2]));
  }
}

TEST_CASE("ReLU passes positive values unchanged and has slope 0 elsewhere") {
  HostLaunch launch;
  for (const auto& [name, kernels] : kernels_of_all(launch)) {
    INFO(name);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> y = {0.0f, 0.0f, 0.5f, 3.0f};
    std::vector<float> gradient = {1.0f, nan, 2.0f, nan};
    const View both = floats(gradient, 4);
    kernels.recommender->relu_backward(floats(y, 4), both, both, false);
    CHECK(gradient[0] == 0.0f);
    CHECK(gradient[1] == 0.0f);
    CHECK(gradient[2] == 2.0f);
    CHECK(std::isnan(gradient[3]));
  }
}

TEST_CASE("a bag is the sum of its rows without rows of other ranks") {
  for (const std::string_view isa : host_kernel_isas())
    for (const std::int64_t columns : {3, 16, 20}) {
      KernelSet kernels = host_kernels(Dtype::f32, isa);
      std::vector<float> table = wave(static_cast<std::size_t>(4 * columns), 0.9);
      const std::vector<std::int32_t> ids = {10, 13, 99, 9, 12, 12};  // rows 10 to 13 are here
      std::vector<float> y(static_cast<std::size_t>(3 * (columns + 2)), -7.0f);
      const BagIds bags{ids.data(), 3, 2, 2};
      kernels.bags->pool(bags, floats(table, columns), 10, y.data(), columns + 2);
      for (std::int64_t i = 0; i < columns; ++i) {
        const auto row = [&](std::int64_t r) {
          return table[static_cast<std::size_t>(r * columns + i)];
        };
        const auto at = static_cast<std::size_t>(i);
        const auto stride = static_cast<std::size_t>(columns + 2);
        CHECK(y[at] == row(0) + row(3));
        CHECK(y[stride + at] == 0.0f);
        CHECK(y[2 * stride + at] == row(2) + row(2));
      }
      CHECK(y[static_cast<std::size_t>(columns)] == -7.0f);  // between the bags nothing is written

      const std::vector<std::int32_t> slots = {1, 0, -1, 1, 1, -1};
      std::vector<float> sums(static_cast<std::size_t>(2 * columns));
      kernels.bags->add({slots.data(), 3, 2, 2}, y.data(), columns + 2, 0.5f,
                        floats(sums, columns));
      CHECK(sums[0] == 0.5f * y[0]);
      const auto wide = static_cast<std::size_t>(columns);
      CHECK(sums[wide] == Approx(0.5f * (y[0] + y[2 * (wide + 2)])));
    }
}

}  // namespace bench::training
