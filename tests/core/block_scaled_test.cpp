#include "core/block_scaled.h"

#include <array>
#include <cmath>
#include <vector>

#include "core/elements.h"
#include "core/error.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

struct Quantised {
  std::vector<std::byte> elements, scales;
  std::vector<double> codes, values;  // elements as they are, and times their scales
};

Quantised quantised(Dtype dtype, const std::vector<double>& line, double tensor = 1.0) {
  const std::size_t block = block_of(dtype);
  Quantised q{std::vector<std::byte>(line.size()),
              std::vector<std::byte>(line.size() / block),
              std::vector<double>(line.size()),
              {}};
  quantise(dtype, line, tensor, q.elements, q.scales);
  decode(q.elements.data(), dtype, false, q.codes);
  for (std::size_t i = 0; i < line.size(); ++i)
    q.values.push_back(q.codes[i] * decode_scale(dtype, q.scales[i / block]) * tensor);
  return q;
}

/// A block whose first value is `first`, the others a hundredth of it.
std::vector<double> block_with(Dtype dtype, double first) {
  std::vector<double> line(block_of(dtype), first / 100);
  line[0] = first;
  return line;
}

TEST_CASE("e2m1 has the values 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, and nothing else") {
  const std::array expected{0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
  for (unsigned bits = 0; bits < 16; ++bits) {
    const auto byte = static_cast<std::byte>(bits);
    double value = 0.0;
    decode(&byte, Dtype::nvfp4, false, std::span(&value, 1));
    CHECK(value == (bits < 8 ? expected[bits] : -expected[bits - 8]));
    std::byte again{};
    encode(&again, Dtype::nvfp4, value);
    CHECK(again == byte);
  }
  CHECK(rounded(0.25, Dtype::nvfp4) == 0.0);
  CHECK(rounded(0.75, Dtype::nvfp4) == 1.0);
  CHECK(rounded(1.25, Dtype::nvfp4) == 1.0);
  CHECK(rounded(2.5, Dtype::nvfp4) == 2.0);
  CHECK(rounded(3.5, Dtype::nvfp4) == 4.0);
  CHECK(rounded(5.0, Dtype::nvfp4) == 4.0);
  CHECK(rounded(-5.1, Dtype::nvfp4) == -6.0);
  CHECK(rounded(1e9, Dtype::nvfp4) == 6.0);
}

TEST_CASE("scales of mxfp8 are powers of two, 127 being one; those of nvfp4 are e4m3") {
  CHECK(encode_scale(Dtype::mxfp8, 1.0) == std::byte{127});
  CHECK(encode_scale(Dtype::mxfp8, 2.0) == std::byte{128});
  CHECK(encode_scale(Dtype::mxfp8, 0.0) == std::byte{0});
  CHECK(decode_scale(Dtype::mxfp8, std::byte{0}) == 0x1p-127);
  CHECK(decode_scale(Dtype::mxfp8, std::byte{254}) == 0x1p127);
  CHECK(std::isnan(decode_scale(Dtype::mxfp8, std::byte{255})));
  CHECK(encode_scale(Dtype::nvfp4, 1.0) == std::byte{0x38});
  CHECK(encode_scale(Dtype::nvfp4, 448.0) == std::byte{0x7e});
  CHECK(std::isnan(decode_scale(Dtype::nvfp4, std::byte{0x7f})));
}

TEST_CASE("a block of mxfp8 is brought next to the highest exponent of e4m3") {
  const auto one = quantised(Dtype::mxfp8, block_with(Dtype::mxfp8, 1.0));
  CHECK(one.scales[0] == std::byte{127 - 8});
  CHECK(one.codes[0] == 256.0);
  CHECK(one.values[0] == 1.0);
  const auto three = quantised(Dtype::mxfp8, block_with(Dtype::mxfp8, -3.0));
  CHECK(three.scales[0] == std::byte{127 + 1 - 8});
  CHECK(three.codes[0] == -384.0);
  CHECK(quantised(Dtype::mxfp8, block_with(Dtype::mxfp8, 500.0)).codes[0] == 448.0);
}

TEST_CASE("a block of nvfp4 uses six times its scale, and its scale 448 times the tensor's") {
  const double tensor = tensor_scale(Dtype::nvfp4, 3.5);
  CHECK(tensor == Approx(3.5 / 2688));
  const auto most = quantised(Dtype::nvfp4, block_with(Dtype::nvfp4, 3.5), tensor);
  CHECK(most.scales[0] == std::byte{0x7e});
  CHECK(most.codes[0] == 6.0);
  CHECK(most.values[0] == Approx(3.5));
  const auto half = quantised(Dtype::nvfp4, block_with(Dtype::nvfp4, 1.75), tensor);
  CHECK(decode_scale(Dtype::nvfp4, half.scales[0]) == 224.0);
}

TEST_CASE("each block has its own scale, and zeros stay zero") {
  for (const Dtype dtype : {Dtype::mxfp8, Dtype::nvfp4}) {
    const std::size_t block = block_of(dtype);
    std::vector<double> line(3 * block, 0.0);
    line[block] = 1.0;
    line[2 * block] = 0.25;
    const auto q = quantised(dtype, line);
    for (std::size_t i = 0; i < block; ++i) CHECK(q.values[i] == 0.0);
    CHECK(q.values[block] == Approx(1.0).epsilon(0.07));
    CHECK(q.values[2 * block] == Approx(0.25).epsilon(0.07));
    CHECK(q.scales[1] != q.scales[2]);
  }
}

TEST_CASE("quantised values are as near as their type's rounding promises") {
  for (const Dtype dtype : {Dtype::mxfp8, Dtype::nvfp4}) {
    const double tensor = tensor_scale(dtype, 3.5);
    std::vector<double> line(64 * block_of(dtype));
    for (std::size_t i = 0; i < line.size(); ++i) line[i] = random_normal(7, i);
    const auto q = quantised(dtype, line, tensor);
    for (std::size_t i = 0; i < line.size(); ++i) {
      const double scale = decode_scale(dtype, q.scales[i / block_of(dtype)]) * tensor;
      // Half a step of e4m3 or e2m1 where it is coarsest, and what lies past the largest.
      const double step = dtype == Dtype::mxfp8 ? 64.0 : 1.4;
      CHECK(std::abs(q.values[i] - line[i]) <= step * scale);
    }
  }
}

TEST_CASE("a line with a partial block is refused") {
  std::vector<std::byte> elements(40), scales(2);
  const std::vector<double> line(40, 1.0);
  CHECK_THROWS_AS(quantise(Dtype::mxfp8, line, 1.0, elements, scales), Error);
  CHECK_THROWS_AS(quantise(Dtype::f32, line, 1.0, elements, scales), Error);
}

}  // namespace
}  // namespace bench
