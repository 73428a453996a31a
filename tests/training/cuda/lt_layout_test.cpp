// What cuBLASLt is asked for, against the product it stands for.
#include <vector>

#include "tests/support/catch.h"
#include "training/cuda/lt_gemm.h"
#include "training/host/host_kernels.h"

namespace bench::training {
namespace {

/// A matrix in columns, as the library reads it.
double column_major(const LtMatrix& matrix, const std::vector<float>& data, std::int64_t i,
                    std::int64_t j) {
  if (matrix.transpose) std::swap(i, j);
  REQUIRE((i < matrix.rows && j < matrix.columns));
  return data[static_cast<std::size_t>(j * matrix.rows + i)];
}

std::vector<float> counted_values(std::int64_t count, int seed) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((i * 7 + seed) % 11) - 5.0f);
  return values;
}

View view_of(std::vector<float>& values, std::int64_t rows) {
  return {values.data(), rows, static_cast<std::int64_t>(values.size()) / rows, Dtype::f32};
}

}  // namespace

TEST_CASE("the cuBLASLt layout computes the row-major GEMM for any transposition") {
  constexpr std::int64_t m = 3, n = 5, k = 4;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      std::vector<float> a = counted_values(m * k, 1), b = counted_values(k * n, 2);
      std::vector<float> c = counted_values(m * n, 3), bias = counted_values(n, 4);
      const GemmOptions product{ta, tb, view_of(c, m), view_of(bias, 1)};
      const View left = view_of(a, ta ? k : m), right = view_of(b, tb ? n : k);
      const LtLayout layout = lt_layout(product, left, right, view_of(c, m));
      CHECK((layout.addend && layout.in_place && layout.bias));
      std::vector<float> asked = c;
      for (std::int64_t i = 0; i < layout.result.rows; ++i)
        for (std::int64_t j = 0; j < layout.result.columns; ++j) {
          double sum = bias[static_cast<std::size_t>(i)];  // a bias goes down a column
          for (std::int64_t p = 0; p < k; ++p)
            sum += column_major(layout.first, b, i, p) * column_major(layout.second, a, p, j);
          asked[static_cast<std::size_t>(j * layout.result.rows + i)] += static_cast<float>(sum);
        }
      host_kernels(Dtype::f32).gemm->multiply(product, left, right, view_of(c, m));
      CHECK(asked == c);
    }
}

TEST_CASE("cuBLASLt accepts the layout of every kind of GEMM") {
  std::vector<float> values(64);
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
    for (const bool bias : {false, true}) {
      const View view{values.data(), 8, 8, dtype};
      GemmOptions product{true, false, view, {}};
      if (bias) product.bias = {values.data(), 1, 8, dtype};
      const LtPlan plan(lt_layout(product, view, view, view));
      cublasLtEpilogue_t epilogue{};
      std::size_t written = 0;
      check(cublasLtMatmulDescGetAttribute(plan.operation(), CUBLASLT_MATMUL_DESC_EPILOGUE,
                                           &epilogue, sizeof epilogue, &written),
            "read a description");
      CHECK(epilogue == (bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT));
    }
}

TEST_CASE("cuBLASLt accepts the layout of a GEMM with GELU and with its derivative") {
  std::vector<float> values(2048);
  const View a{values.data(), 8, 16, Dtype::bf16}, b{values.data(), 16, 24, Dtype::bf16};
  const View c{values.data(), 8, 24, Dtype::bf16};
  const auto attribute = [](const LtPlan& plan, cublasLtMatmulDescAttributes_t which, auto value) {
    std::size_t written = 0;
    check(cublasLtMatmulDescGetAttribute(plan.operation(), which, &value, sizeof value, &written),
          "read a description");
    return value;
  };
  GemmOptions product;
  product.gelu_input = c;
  for (const bool bias : {false, true})
    for (const GeluStep step : {GeluStep::forward, GeluStep::backward}) {
      product.gelu = step;
      product.bias = bias ? View{values.data(), 1, 24, Dtype::bf16} : View{};
      if (bias && step == GeluStep::backward) continue;
      const LtPlan plan(lt_layout(product, a, b, c));
      const auto wanted = step == GeluStep::backward ? CUBLASLT_EPILOGUE_DGELU
                          : bias                     ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS
                                                     : CUBLASLT_EPILOGUE_GELU_AUX;
      CHECK(attribute(plan, CUBLASLT_MATMUL_DESC_EPILOGUE, cublasLtEpilogue_t{}) == wanted);
      CHECK(attribute(plan, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{}) == 24);
    }
  product.gelu = GeluStep::none;
  CHECK(lt_layout(product, a, b, c).gelu == GeluStep::none);
}

}  // namespace bench::training
