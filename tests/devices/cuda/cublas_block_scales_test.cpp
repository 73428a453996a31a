#include <cuda_fp8.h>

#include <cstring>
#include <set>

#include "core/block_scaled.h"
#include "core/elements.h"
#include "devices/cuda/cublas_descriptors.h"
#include "devices/cuda/cublas_gemm.h"
#include "tests/support/catch.h"
#ifdef BENCH_CUBLAS_BLOCK_SCALES
#include <cuda_fp4.h>
#endif

namespace bench {
namespace {

GemmRequest scaled_request(Dtype dtype, GemmShape shape = {256, 256, 256}) {
  return {.dtype = dtype, .shape = shape};
}

TEST_CASE("scales lie where cuBLAS looks for them") {
  CHECK(scale_offset(0, 0, 4) == 0);
  CHECK(scale_offset(0, 3, 4) == 3);
  CHECK(scale_offset(1, 0, 4) == 16);
  CHECK(scale_offset(31, 0, 4) == 496);
  CHECK(scale_offset(32, 0, 4) == 4);
  CHECK(scale_offset(127, 3, 4) == 511);
  CHECK(scale_offset(0, 4, 8) == 512);     // the next tile along the line
  CHECK(scale_offset(128, 0, 8) == 1024);  // the first tile of the next lines
  CHECK(scale_offset(130, 5, 8) == 3 * 512 + 2 * 16 + 1);
}

TEST_CASE("no two scales share a place, and all fit; the rest is zero") {
  for (const auto& [lines, blocks] :
       {std::pair<std::size_t, std::size_t>{128, 4}, {130, 5}, {16, 1}, {384, 12}}) {
    std::set<std::size_t> places;
    for (std::size_t line = 0; line < lines; ++line)
      for (std::size_t block = 0; block < blocks; ++block)
        places.insert(scale_offset(line, block, blocks));
    CHECK(places.size() == lines * blocks);
    CHECK(*places.rbegin() < scale_bytes(lines, blocks));
    const std::vector<std::byte> ones(lines * blocks, std::byte{1});
    const auto tiled = tiled_scales(ones, lines, blocks, blocks, 1);
    CHECK(tiled.size() % 512 == 0);
    for (std::size_t i = 0; i < tiled.size(); ++i)
      CHECK(tiled[i] == std::byte{places.contains(i) ? std::uint8_t{1} : std::uint8_t{0}});
  }
}

TEST_CASE("scales of A are read along its rows, those of B down its columns") {
  constexpr std::size_t kLines = 3, kBlocks = 2;
  std::vector<std::byte> rows, columns;
  for (unsigned i = 0; i < 6; ++i) rows.push_back(static_cast<std::byte>(10 * (i / 2) + i % 2));
  for (unsigned i = 0; i < 6; ++i) columns.push_back(static_cast<std::byte>(10 * (i % 3) + i / 3));
  CHECK(tiled_scales(rows, kLines, kBlocks, kBlocks, 1) ==
        tiled_scales(columns, kLines, kBlocks, 1, kLines));
  CHECK(tiled_scales(rows, kLines, kBlocks, kBlocks, 1)[16 * 2 + 1] == std::byte{21});
  CHECK_THROWS_AS(tiled_scales(rows, 4, kBlocks, kBlocks, 1), Error);
}

TEST_CASE("two elements of four bits share a byte, the first in the lower half") {
  const std::vector<std::byte> elements{std::byte{0x1}, std::byte{0xf}, std::byte{0x7},
                                        std::byte{0x0}};
  CHECK(packed_halves(elements) == std::vector{std::byte{0xf1}, std::byte{0x07}});
  CHECK_THROWS_AS(packed_halves(std::span(elements).first(3)), Error);
}

TEST_CASE("block-scaled products are refused with both versions: of the chip, of the toolkit") {
  CHECK(cublas_obstacle(scaled_request(Dtype::mxfp8), 90, 13000) ==
        "mxfp8 needs compute capability 10.0; this GPU has 9.0");
  CHECK(cublas_obstacle(scaled_request(Dtype::nvfp4), 89, 12080) ==
        "nvfp4 needs compute capability 10.0; this GPU has 8.9");
  CHECK(cublas_obstacle(scaled_request(Dtype::nvfp4), 100, 12040) ==
        "nvfp4 needs CUDA 12.8; this build has 12.4");
}

#ifdef BENCH_CUBLAS_BLOCK_SCALES
TEST_CASE("block-scaled products are asked for on Blackwell, in whole blocks") {
  CHECK(cublas_obstacle(scaled_request(Dtype::mxfp8), 100).empty());
  CHECK(cublas_obstacle(scaled_request(Dtype::nvfp4), 120).empty());
  CHECK(cublas_obstacle(scaled_request(Dtype::nvfp4, {256, 256, 48}), 100) ==
        "nvfp4 needs m, n and k that are multiples of 32");
  CHECK(cublas_types(Dtype::mxfp8)->a == CUDA_R_8F_E4M3);
  CHECK(cublas_types(Dtype::nvfp4)->b == CUDA_R_4F_E2M1);
  CHECK(cublas_types(Dtype::nvfp4)->output == Dtype::bf16);
}

template <class T>
T attribute(const CublasDescriptors& descriptors, cublasLtMatmulDescAttributes_t which) {
  T value{};
  std::size_t written = 0;
  check(cublasLtMatmulDescGetAttribute(descriptors.operation(), which, &value, sizeof value,
                                       &written),
        "ask");
  return value;
}

TEST_CASE("the descriptors say how both factors are scaled and where the scales are") {
  const auto made = [](Dtype dtype) {
    const CublasTypes types = *cublas_types(dtype);
    return std::make_unique<CublasDescriptors>(cublas_product({64, 96, 128}, types, true), types,
                                               true);
  };
  int of_b = 0, of_a = 0;
  for (const auto& [dtype, mode] :
       {std::pair{Dtype::mxfp8, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0},
        std::pair{Dtype::nvfp4, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3}}) {
    const auto descriptors = made(dtype);
    descriptors->set_scales(&of_b, &of_a);
    for (const auto which : {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_DESC_B_SCALE_MODE})
      CHECK(attribute<std::int32_t>(*descriptors, which) == mode);
    CHECK(attribute<const void*>(*descriptors, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER) == &of_b);
    CHECK(attribute<const void*>(*descriptors, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER) == &of_a);
    CHECK(attribute<std::int8_t>(*descriptors, CUBLASLT_MATMUL_DESC_FAST_ACCUM) == 0);
    CHECK(attribute<cublasOperation_t>(*descriptors, CUBLASLT_MATMUL_DESC_TRANSA) == CUBLAS_OP_T);
  }
  CHECK_THROWS_AS(made(Dtype::fp8_e4m3)->set_scales(&of_b, &of_a), Error);
}

TEST_CASE("our e2m1 and ue8m0 agree with the toolkit's") {
  for (int i = -4000; i <= 4000; ++i) {
    const double value = i * 0.00217;
    std::byte ours{};
    encode(&ours, Dtype::nvfp4, value);
    const auto theirs = __nv_cvt_double_to_fp4(value, __NV_E2M1, cudaRoundNearest);
    if (ours != std::byte{theirs}) FAIL("at " << value);
  }
  for (int bits = 0; bits < 255; ++bits) {
    const __nv_bfloat16_raw raw = __nv_cvt_e8m0_to_bf16raw(static_cast<std::uint8_t>(bits));
    const std::uint32_t word = std::uint32_t{raw.x} << 16;
    float theirs = 0.0f;
    std::memcpy(&theirs, &word, sizeof theirs);
    CHECK(decode_scale(Dtype::mxfp8, static_cast<std::byte>(bits)) == static_cast<double>(theirs));
  }
}
#endif

}  // namespace
}  // namespace bench
