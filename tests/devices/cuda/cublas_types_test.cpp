#include <cuda_fp8.h>

#include <cstring>

#include "core/elements.h"
#include "devices/cuda/cublas_algorithms.h"
#include "devices/cuda/cublas_descriptors.h"
#include "devices/cuda/cublas_gemm.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

GemmRequest request(Dtype dtype, GemmShape shape) { return {.dtype = dtype, .shape = shape}; }

/// What cuBLASLt computes by its documentation, three loops over column-major factors.
std::vector<double> column_major(const CublasProduct& p, const std::vector<double>& first,
                                 const std::vector<double>& second) {
  std::vector<double> result(static_cast<std::size_t>(p.result.rows * p.result.columns));
  const auto at = [](const std::vector<double>& x, const CublasMatrix& m, auto i, auto j) {
    return x[static_cast<std::size_t>(j * m.leading + i)];
  };
  const std::int64_t k = p.second.rows;
  for (std::int64_t i = 0; i < p.result.rows; ++i)
    for (std::int64_t j = 0; j < p.result.columns; ++j)
      for (std::int64_t t = 0; t < k; ++t)
        result[static_cast<std::size_t>(j * p.result.leading + i)] +=
            (p.transpose_first ? at(first, p.first, t, i) : at(first, p.first, i, t)) *
            at(second, p.second, t, j);
  return result;
}

std::vector<double> transposed_values(const std::vector<double>& matrix, std::int64_t rows,
                                      std::int64_t columns) {
  const auto bytes = transposed(std::as_bytes(std::span(matrix)), rows, columns, sizeof(double));
  std::vector<double> result(matrix.size());
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST_CASE("the column-major product that is asked for is the row-major one that is meant") {
  const GemmShape shape{3, 5, 4};
  std::vector<double> a(12), b(20), expected(15, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * i + 1);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(3 * i) - 7;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t t = 0; t < 4; ++t) expected[i * 5 + j] += a[i * 4 + t] * b[t * 5 + j];
  const CublasTypes types = *cublas_types(Dtype::f64);
  CHECK(column_major(cublas_product(shape, types, false), b, a) == expected);
  CHECK(column_major(cublas_product(shape, types, true), transposed_values(b, 4, 5), a) ==
        expected);
}

TEST_CASE("true f32 never asks for tf32") {
  CHECK(cublas_types(Dtype::f32)->compute == CUBLAS_COMPUTE_32F);
  CHECK(cublas_types(Dtype::tf32)->compute == CUBLAS_COMPUTE_32F_FAST_TF32);
}

TEST_CASE("the factors keep their types when the product is turned over") {
  const CublasTypes types = *cublas_types(Dtype::fp8_e5m2);
  const CublasProduct product = cublas_product({16, 32, 48}, types, true);
  CHECK(product.first.type == CUDA_R_8F_E5M2);   // B
  CHECK(product.second.type == CUDA_R_8F_E4M3);  // A
  CHECK(product.result.type == CUDA_R_16BF);
}

TEST_CASE("limits of chip and library are reported before anything is tried") {
  CHECK(cublas_obstacle(request(Dtype::bf16, {256, 256, 256}), 90).empty());
  CHECK(cublas_obstacle(request(Dtype::fp8_e4m3, {256, 256, 256}), 90).empty());
  CHECK(cublas_obstacle(request(Dtype::fp8_e4m3, {256, 256, 256}), 80) ==
        "fp8_e4m3 needs compute capability 8.9; this GPU has 8.0");
  CHECK(cublas_obstacle(request(Dtype::bf16, {256, 256, 256}), 70) ==
        "bf16 needs compute capability 8.0; this GPU has 7.0");
  CHECK(cublas_obstacle(request(Dtype::int8, {256, 250, 256}), 90) ==
        "int8 needs m, n and k that are multiples of 16");
  CHECK(cublas_obstacle(request(Dtype::int64, {256, 256, 256}), 90) ==
        "cuBLASLt has no int64 product");
}

TEST_CASE("descriptors of every dtype can be made") {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::tf32, Dtype::bf16, Dtype::f16,
                            Dtype::fp8_e4m3, Dtype::fp8_e5m2, Dtype::int8}) {
    INFO(to_string(dtype));
    const CublasTypes types = *cublas_types(dtype);
    for (const bool turned : {false, true}) {
      const CublasDescriptors made(cublas_product({32, 64, 48}, types, turned), types, true);
      std::uint64_t rows = 0;
      std::size_t written = 0;
      check(cublasLtMatrixLayoutGetAttribute(made.result(), CUBLASLT_MATRIX_LAYOUT_ROWS, &rows,
                                             sizeof rows, &written),
            "rows");
      CHECK(rows == 64);
    }
  }
}

TEST_CASE("an algorithm is named by all that decides the order of its additions") {
  CublasAlgorithm algorithm{.id = 66, .tile = 20, .stages = 36};
  CHECK(to_string(algorithm) == "algorithm 66, tile 20, stages 36");
  algorithm.splits = 4;
  algorithm.reduction = 2;
  algorithm.cluster = 3;
  CHECK(to_string(algorithm) ==
        "algorithm 66, tile 20, stages 36, cluster 3, splits 4, reduction 2");
}

TEST_CASE("alpha and beta have the type the product asks for") {
  const CublasScalar real(CUDA_R_64F, 0.5), whole(CUDA_R_32I, 1.0), single(CUDA_R_32F, 0.25);
  CHECK(*static_cast<const double*>(real.data()) == 0.5);
  CHECK(*static_cast<const std::int32_t*>(whole.data()) == 1);
  CHECK(*static_cast<const float*>(single.data()) == 0.25f);
}

TEST_CASE("a transpose of a wrong size is refused; twice transposed is the matrix") {
  std::vector<double> matrix(70 * 130);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<double>(i);
  CHECK(transposed_values(transposed_values(matrix, 70, 130), 130, 70) == matrix);
  CHECK(transposed_values(matrix, 70, 130)[1] == 130.0);
  CHECK_THROWS_AS(transposed(std::as_bytes(std::span(matrix)), 71, 130, 8), Error);
}

TEST_CASE("our fp8 agrees with the toolkit's for every value") {
  for (int i = -4000; i <= 4000; ++i) {
    const double value = i * 0.117;
    std::byte ours[2];
    encode(&ours[0], Dtype::fp8_e4m3, value);
    encode(&ours[1], Dtype::fp8_e5m2, value);
    const auto e4m3 = __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
    const auto e5m2 = __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
    if (ours[0] != std::byte{e4m3} || ours[1] != std::byte{e5m2}) FAIL("at " << value);
  }
}

}  // namespace
}  // namespace bench
