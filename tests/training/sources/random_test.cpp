#include "training/sources/random.h"

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "tests/support/catch.h"
#include "training/sources/byte_reader.h"

namespace bench::training {
namespace {

TEST_CASE("random numbers are functions of seed, stream and position at compile time") {
  static_assert(random_stream(1, 2).bits(3) == random_stream(1, 2).bits(3));
  static_assert(random_stream(1, 2).bits(3) != random_stream(1, 2).bits(4));
  static_assert(random_stream(1, 2).bits(3) != random_stream(1, 3).bits(3));
  static_assert(random_stream(1, 2).bits(3) != random_stream(2, 2).bits(3));
  static_assert(normal(random_stream(5, 6), 7) == normal(random_stream(5, 6), 7));
  // A GPU or another compiler must give these; whoever changes them changes every data set.
  CHECK(random_stream(1, 2).bits(3) == 0x8568f7c4e53b5a35);
  CHECK(sample_stream(1, Split::evaluation, 2).bits(0) == 0xcc44ae53f023606f);
}

TEST_CASE("training and evaluation samples have different streams") {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (std::uint64_t index = 0; index < 50; ++index) {
      CHECK(sample_stream(seed, Split::train, index).key >> 63 == 0);
      CHECK(sample_stream(seed, Split::evaluation, index).key >> 63 == 1);
    }
}

TEST_CASE("streams of one seed differ from each other") {
  std::set<std::uint64_t> keys;
  for (std::uint64_t index = 0; index < 100000; ++index)
    keys.insert(sample_stream(7, Split::train, index).key);
  CHECK(keys.size() == 100000);
}

TEST_CASE("normal numbers have the moments of a normal distribution") {
  const RandomStream stream = random_stream(11, 0);
  constexpr int kCount = 400000;
  std::array<double, 5> moment{};
  for (int i = 0; i < kCount; ++i) {
    const double x = normal(stream, static_cast<std::uint64_t>(i));
    for (int k = 1; k <= 4; ++k) moment.at(static_cast<std::size_t>(k)) += std::pow(x, k) / kCount;
  }
  const double deviation = 1 / std::sqrt(kCount);
  CHECK(std::abs(moment[1]) < 4 * deviation);
  CHECK(std::abs(moment[2] - 1) < 4 * std::sqrt(2.0) * deviation);
  CHECK(std::abs(moment[3]) < 4 * std::sqrt(15.0) * deviation);
  CHECK(std::abs(moment[4] - 2.9) < 4 * std::sqrt(96.0) * deviation);
}

TEST_CASE("adjacent numbers of a stream and of adjacent streams are uncorrelated") {
  constexpr int kCount = 200000;
  double along = 0, across = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const RandomStream stream = sample_stream(3, Split::train, i);
    const double x = uniform(stream.bits(0)) - 0.5;
    along += x * (uniform(stream.bits(1)) - 0.5);
    across += x * (uniform(sample_stream(3, Split::train, i + 1).bits(0)) - 0.5);
  }
  const double deviation = std::sqrt(kCount) / 12;
  CHECK(std::abs(along) < 4 * deviation);
  CHECK(std::abs(across) < 4 * deviation);
}

TEST_CASE("the number of patterns for each bounded number is exact") {
  for (const std::uint32_t bound : {1u, 3u, 62u, 50247u}) {
    std::uint64_t ways = 0;
    for (std::uint32_t value = 0; value < bound; ++value) {
      const auto first = static_cast<std::uint32_t>(ways);
      CHECK(below(first, bound) == value);
      if (value > 0) CHECK(below(first - 1, bound) == value - 1);
      ways += ways_below(value, bound);
    }
    CHECK(ways == std::uint64_t{1} << 32);
  }
}

TEST_CASE("a batch checksum is independent of order and detects every change") {
  std::vector<std::int32_t> a = {1, 2, 3}, b = {4, 5, 6};
  const auto sum = [&](std::uint64_t first, std::uint64_t second) {
    return sample_checksum(Split::train, first, std::span(a)) +
           sample_checksum(Split::train, second, std::span(b));
  };
  const std::uint64_t right = sum(10, 11);
  CHECK(sample_checksum(Split::train, 11, std::span(b)) +
            sample_checksum(Split::train, 10, std::span(a)) ==
        right);
  CHECK(sum(11, 10) != right);
  b[2] ^= 1;
  CHECK(sum(10, 11) != right);
  b[2] ^= 1;
  CHECK(sample_checksum(Split::evaluation, 10, std::span(a)) !=
        sample_checksum(Split::train, 10, std::span(a)));
  std::swap(a[0], a[1]);
  CHECK(sum(10, 11) != right);
  CHECK(sample_checksum(Split::train, 0, std::span(a).first(2)) !=
        sample_checksum(Split::train, 0, std::span(a).first(1)));
}

}  // namespace
}  // namespace bench::training
