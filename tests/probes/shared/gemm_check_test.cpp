#include "probes/shared/gemm_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/block_scaled.h"
#include "core/elements.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

constexpr GemmShape kShape{24, 20, 40};

/// C of f32 matrices, in f32 and in another order than the check's.
std::vector<float> product(const Matrices& x) {
  const auto m = x.shape.m, n = x.shape.n, k = x.shape.k;
  std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n)),
      c(static_cast<std::size_t>(m * n), 0.0f);
  std::memcpy(a.data(), x.a.data(), x.a.size());
  std::memcpy(b.data(), x.b.data(), x.b.size());
  for (auto t = k - 1; t >= 0; --t)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        c[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + t)] * b[static_cast<std::size_t>(t * n + j)];
  return c;
}

std::span<const std::byte> bytes(const std::vector<float>& c) {
  return std::as_bytes(std::span(c));
}

void flip(std::vector<float>& c, std::size_t index, int bit) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &c[index], 4);
  bits ^= 1u << bit;
  std::memcpy(&c[index], &bits, 4);
}

TEST_CASE("correct products pass: integers exactly, random values within rounding") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Matrices integers = make_matrices(kShape, Dtype::f32, MatrixValues::integers, seed);
    CHECK(check_product(integers, Dtype::f32, bytes(product(integers))).passed());
    const Matrices random = make_matrices(kShape, Dtype::f32, MatrixValues::random, seed);
    const Check check = check_product(random, Dtype::f32, bytes(product(random)));
    CHECK(check.method == "Freivalds");
    CHECK(check.error < 0.5);  // the tolerance has room, but not much
    CHECK(check.error > 0.001);
  }
}

TEST_CASE("the exact check finds any flipped bit of any element") {
  const Matrices x = make_matrices(kShape, Dtype::f32, MatrixValues::integers, 1);
  for (const std::size_t index : {0u, 17u, 479u})
    for (const int bit : {0, 11, 22, 23, 31}) {
      std::vector<float> c = product(x);
      if (c[index] == 0.0f && bit == 31) continue;  // minus zero equals zero
      flip(c, index, bit);
      CHECK_FALSE(check_exact(x, Dtype::f32, bytes(c)).passed());
    }
}

TEST_CASE("Freivalds finds a flipped sign or exponent bit") {
  const Matrices x = make_matrices(kShape, Dtype::f32, MatrixValues::random, 1);
  for (const int bit : {23, 25, 30, 31}) {
    std::vector<float> c = product(x);
    flip(c, 100, bit);
    CHECK_FALSE(check_freivalds(x, Dtype::f32, bytes(c), 5).passed());
  }
}

TEST_CASE("NaN and unwritten elements never pass") {
  for (const MatrixValues values : {MatrixValues::integers, MatrixValues::random}) {
    const Matrices x = make_matrices(kShape, Dtype::f32, values, 1);
    std::vector<float> c = product(x);
    std::memset(&c[42], 0xff, 4);
    CHECK_FALSE(check_product(x, Dtype::f32, bytes(c)).passed());
  }
}

TEST_CASE("two columns exchanged are found") {
  const Matrices x = make_matrices(kShape, Dtype::f32, MatrixValues::random, 1);
  std::vector<float> c = product(x);
  for (std::size_t i = 0; i < 24; ++i) std::swap(c[i * 20 + 3], c[i * 20 + 4]);
  CHECK_FALSE(check_product(x, Dtype::f32, bytes(c)).passed());
}

/// C as a GPU gives it: sums in f32, then rounded to `output`.
std::vector<std::byte> narrow_product(const Matrices& x, Dtype output) {
  const auto m = static_cast<std::size_t>(x.shape.m), n = static_cast<std::size_t>(x.shape.n),
             k = static_cast<std::size_t>(x.shape.k);
  std::vector<double> a(m * k), b(k * n);
  decode(x.a.data(), dtype_of_a(x.dtype), false, a);
  decode(x.b.data(), dtype_of_b(x.dtype), false, b);
  std::vector<std::byte> c(m * n * size_of(output));
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      float sum = 0.0f;
      for (std::size_t t = 0; t < k; ++t) sum += static_cast<float>(a[i * k + t] * b[t * n + j]);
      encode(c.data() + (i * n + j) * size_of(output), output, static_cast<double>(sum));
    }
  return c;
}

TEST_CASE("products with a narrow result pass, also over more columns than one block") {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::fp8_e4m3, Dtype::fp8_e5m2}) {
    const Dtype output = dtype == Dtype::f16 ? Dtype::f16 : Dtype::bf16;
    for (const MatrixValues values : {MatrixValues::random, MatrixValues::integers}) {
      INFO(to_string(dtype));
      const Matrices x = make_matrices({6, 1500, 256}, dtype, values, 3);
      const Check check = check_product(x, output, narrow_product(x, output));
      CHECK(check.passed());
      if (values == MatrixValues::random) CHECK(check.error > 0.001);
    }
  }
}

/// C as tensor cores give it in tf32: each block of eight products is added and the sum cut off.
std::vector<float> cut_off_product(const Matrices& x) {
  constexpr std::size_t kBlock = 8;
  const auto m = static_cast<std::size_t>(x.shape.m), n = static_cast<std::size_t>(x.shape.n),
             k = static_cast<std::size_t>(x.shape.k);
  std::vector<double> a(m * k), b(k * n);
  decode(x.a.data(), Dtype::tf32, false, a);
  decode(x.b.data(), Dtype::tf32, false, b);
  std::vector<float> c(m * n, 0.0f);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t first = 0; first < k; first += kBlock)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = c[i * n + j];
        for (std::size_t t = first; t < first + kBlock; ++t) sum += a[i * k + t] * b[t * n + j];
        const auto near = static_cast<float>(sum);
        c[i * n + j] = std::abs(near) > std::abs(sum) ? std::nextafter(near, 0.0f) : near;
      }
  return c;
}

TEST_CASE("sums truncated by tensor cores pass in tf32, and a wrong element does not") {
  const Matrices x = make_matrices({64, 24, 8192}, Dtype::tf32, MatrixValues::random, 3);
  std::vector<float> c = cut_off_product(x);
  const Check check = check_product(x, Dtype::f32, bytes(c));
  CHECK(check.passed());
  CHECK(check.error > 0.1);  // more than rounding alone would make
  flip(c, 777, 31);
  CHECK_FALSE(check_product(x, Dtype::f32, bytes(c)).passed());
}

TEST_CASE("a wrong element of a narrow result is found") {
  constexpr std::size_t kWrong = 2 * 1500 + 1234;
  const auto spoil = [](std::vector<std::byte> c, unsigned bit) {
    c[2 * kWrong + bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    return c;
  };
  const Matrices random = make_matrices({6, 1500, 256}, Dtype::bf16, MatrixValues::random, 3);
  const auto right = narrow_product(random, Dtype::bf16);
  CHECK_FALSE(check_product(random, Dtype::bf16, spoil(right, 14)).passed());  // exponent
  CHECK_FALSE(check_product(random, Dtype::bf16, spoil(right, 15)).passed());  // sign
  const Matrices integers = make_matrices({6, 1500, 256}, Dtype::bf16, MatrixValues::integers, 3);
  const auto exact = narrow_product(integers, Dtype::bf16);
  CHECK_FALSE(check_product(integers, Dtype::bf16, spoil(exact, 0)).passed());  // the last bit
}

/// C of block-scaled matrices, from their bytes by the formats' definition alone.
std::vector<std::byte> scaled_product(const Matrices& x, Dtype output) {
  const auto m = static_cast<std::size_t>(x.shape.m), n = static_cast<std::size_t>(x.shape.n),
             k = static_cast<std::size_t>(x.shape.k), block = block_of(x.dtype);
  std::vector<double> a(m * k), b(k * n);
  decode(x.a.data(), x.dtype, false, a);
  decode(x.b.data(), x.dtype, false, b);
  std::vector<std::byte> c(m * n * size_of(output));
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      float sum = 0.0f;
      for (std::size_t t = 0; t < k; ++t)
        sum += static_cast<float>(
            a[i * k + t] * decode_scale(x.dtype, x.scales.a[i * (k / block) + t / block]) *
            b[t * n + j] * decode_scale(x.dtype, x.scales.b[t / block * n + j]));
      encode(c.data() + (i * n + j) * size_of(output), output,
             static_cast<double>(sum * x.scales.tensor));
    }
  return c;
}

TEST_CASE("block-scaled products are checked with their scaled values") {
  for (const Dtype dtype : {Dtype::mxfp8, Dtype::nvfp4})
    for (const MatrixValues values :
         {MatrixValues::random, MatrixValues::integers, MatrixValues::zeros}) {
      INFO(to_string(dtype));
      const Matrices x = make_matrices({7, 33, 256}, dtype, values, 3);
      CHECK(x.scales.a.size() == 7 * 256 / block_of(dtype));
      CHECK(x.scales.b.size() == 33 * 256 / block_of(dtype));
      const auto right = scaled_product(x, Dtype::bf16);
      CHECK(check_product(x, Dtype::bf16, right).passed());
      if (values == MatrixValues::zeros) continue;
      for (const bool of_a : {true, false}) {  // one scale of another block, and one that is lost
        Matrices other = x;
        auto& scales = of_a ? other.scales.a : other.scales.b;
        scales[5] = encode_scale(dtype, 4 * decode_scale(dtype, scales[5]));
        CHECK_FALSE(check_product(x, Dtype::bf16, scaled_product(other, Dtype::bf16)).passed());
      }
    }
}

TEST_CASE("values of quantised matrices are those of a standard normal") {
  for (const Dtype dtype : {Dtype::mxfp8, Dtype::nvfp4}) {
    const Matrices x = make_matrices({64, 32, 512}, dtype, MatrixValues::random, 1);
    std::vector<double> a(64 * 512);
    decode(x.a.data(), dtype, false, a);
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double value = a[i] * decode_scale(dtype, x.scales.a[i / block_of(dtype)]) *
                           std::sqrt(static_cast<double>(x.scales.tensor));
      sum += value;
      squares += value * value;
    }
    const auto n = static_cast<double>(a.size());
    CHECK(sum / n == Approx(0.0).margin(0.03));
    CHECK(squares / n == Approx(1.0).epsilon(0.05));
  }
}

TEST_CASE("matrices repeat with their seed, differ between seeds and are never all zero") {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::int8}) {
    const Matrices one = make_matrices(kShape, dtype, MatrixValues::random, 1);
    CHECK(one.a == make_matrices(kShape, dtype, MatrixValues::random, 1).a);
    CHECK(one.a != make_matrices(kShape, dtype, MatrixValues::random, 2).a);
    CHECK(one.a.size() == 24 * 40 * size_of(dtype));
    CHECK(std::ranges::any_of(one.b, [](std::byte b) { return b != std::byte{0}; }));
  }
}

struct KnownMatrices {
  Dtype dtype;
  MatrixValues values;
  std::uint64_t a, b, a_scales = 0, b_scales = 0;  // hashes
};

TEST_CASE("matrices keep their bits: golden hashes of products depend on them") {
  // Written down when one thread made them element by element, by std::ldexp and std::nearbyint.
  const std::vector<KnownMatrices> known = {
      {Dtype::f64, MatrixValues::random, 0x0bb03d5ed57cb4d8u, 0x79035a9c99232736u},
      {Dtype::f64, MatrixValues::integers, 0x3fba1ca8209e1716u, 0x18e1ff4fb6bd4067u},
      {Dtype::f32, MatrixValues::random, 0xa9e0328a6758c9e5u, 0x0b96d47d295d7d20u},
      {Dtype::f32, MatrixValues::integers, 0x1413706d438c10ffu, 0x73da42236ace0228u},
      {Dtype::tf32, MatrixValues::random, 0x3d93168f83e62196u, 0x3e27c755d433f95du},
      {Dtype::tf32, MatrixValues::integers, 0x1413706d438c10ffu, 0x73da42236ace0228u},
      {Dtype::bf16, MatrixValues::random, 0xd5227ce69b44342au, 0x627aa839db6df536u},
      {Dtype::bf16, MatrixValues::integers, 0xd6f79814c8284227u, 0x0d573ed967ecc382u},
      {Dtype::f16, MatrixValues::random, 0xdadb693a40fc63f8u, 0xb09bb715b6cd764bu},
      {Dtype::f16, MatrixValues::integers, 0x8c73de17a6d66477u, 0x0f6dabf3fe9e91a2u},
      {Dtype::fp8_e4m3, MatrixValues::random, 0xccb158d6b795dcbau, 0xd42e41ad5218a8f2u},
      {Dtype::fp8_e4m3, MatrixValues::integers, 0x86e360c701554c4au, 0x417ebb6b6b868443u},
      {Dtype::fp8_e5m2, MatrixValues::random, 0xccb158d6b795dcbau, 0x456c680acb7c15a4u},
      {Dtype::fp8_e5m2, MatrixValues::integers, 0x86e360c701554c4au, 0x20a96e5695eb23fcu},
      {Dtype::mxfp8, MatrixValues::random, 0x9d2a91c3246caa5eu, 0xb4d03467ec06329eu,
       0xe3eb6205e4520597u, 0x1c0692c3e0739109u},
      {Dtype::mxfp8, MatrixValues::integers, 0x86e360c701554c4au, 0x0856f63232ef1869u,
       0x3b07ff25c388c2a9u, 0xe5aa8361a07611f9u},
      {Dtype::nvfp4, MatrixValues::random, 0x0c7fb1fa7cfa1dbcu, 0x01f34d157b1cd217u,
       0x1f2d4a11d7fd002fu, 0x714807f44cc3e946u},
      {Dtype::nvfp4, MatrixValues::integers, 0xf39154ba5703125eu, 0x4fe2df76676c2424u,
       0x94b7b6282c16819eu, 0x0f30ae9bf7fb6fbbu},
      {Dtype::int8, MatrixValues::random, 0xf7ce78473cc5c673u, 0x8bab8ffef714e38du},
  };
  for (const KnownMatrices& one : known) {
    INFO(to_string(one.dtype));
    const Matrices made = make_matrices({384, 320, 1056}, one.dtype, one.values, 5);
    CHECK(hash_of(made.a) == one.a);
    CHECK(hash_of(made.b) == one.b);
    if (one.a_scales == 0) continue;
    CHECK(hash_of(made.scales.a) == one.a_scales);
    CHECK(hash_of(made.scales.b) == one.b_scales);
  }
}

TEST_CASE("a wrong element is found in whichever part of the rows it is") {
  // Large enough to be divided among threads.
  const GemmShape shape{640, 512, 32};
  const Matrices x = make_matrices(shape, Dtype::f32, MatrixValues::random, 1);
  const std::vector<float> right = product(x);
  CHECK(check_product(x, Dtype::f32, bytes(right)).passed());
  for (const std::size_t row : {0u, 1u, 319u, 320u, 639u})
    for (const float wrong : {1e3f, std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> c = right;
      c[row * 512 + 7] = wrong;
      CHECK_FALSE(check_product(x, Dtype::f32, bytes(c)).passed());
    }
}

TEST_CASE("the product of zeros must be zero in every bit, including the sign") {
  const Matrices zeros = make_matrices(kShape, Dtype::bf16, MatrixValues::zeros, 1);
  CHECK(std::ranges::all_of(zeros.a, [](std::byte b) { return b == std::byte{0}; }));
  std::vector<std::byte> c(24 * 20 * 4);
  CHECK(check_product(zeros, Dtype::f32, c).passed());
  c[4 * 77 + 3] = std::byte{0x80};  // minus zero
  const Check check = check_product(zeros, Dtype::f32, c);
  CHECK_FALSE(check.passed());
  CHECK(check.error == 1.0);
}

TEST_CASE("one different byte anywhere, or another size, makes results unequal") {
  const std::vector<std::byte> data(std::size_t{40} << 20, std::byte{7});  // in several parts
  std::vector<std::byte> other = data;
  CHECK(equal_bytes(data, other));
  for (const std::size_t index : {std::size_t{0}, data.size() / 2, data.size() - 1}) {
    other[index] ^= std::byte{1};
    CHECK_FALSE(equal_bytes(data, other));
    other[index] ^= std::byte{1};
  }
  other.pop_back();
  CHECK_FALSE(equal_bytes(data, other));
}

TEST_CASE("the hash changes with any bit") {
  std::vector<std::byte> data(1001, std::byte{7});
  const std::uint64_t hash = hash_of(data);
  for (const std::size_t index : {0u, 500u, 999u, 1000u}) {
    data[index] ^= std::byte{16};
    CHECK(hash_of(data) != hash);
    data[index] ^= std::byte{16};
  }
  CHECK(hash_of(data) == hash);
}

}  // namespace
}  // namespace bench
