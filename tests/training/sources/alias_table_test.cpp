// Draws of alias tables and Zipf's law.
#include "training/sources/alias_table.h"

#include <cmath>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/sources/zipf.h"

namespace bench::training {
namespace {

TEST_CASE("an alias table represents each weight exactly") {
  const std::vector<double> proportions = {5, 0, 1e-12, 3, 0.5, 7, 2};
  const std::vector<std::uint32_t> weights = exact_weights(proportions);
  CHECK(weights[1] == 0);
  CHECK(weights[2] == 1);
  AliasTable table(proportions.size());
  table.add(weights);
  table.add(weights);
  std::vector<std::uint64_t> ways(8);
  const AliasView view = table.view();
  const std::uint64_t room = std::uint64_t{1} << (32 - view.bucket_bits);
  for (std::uint32_t bucket = 8; bucket < 16; ++bucket) {  // the second row
    ways.at(bucket - 8) += view.buckets[bucket].own;
    ways.at(view.buckets[bucket].other) += room - view.buckets[bucket].own;
  }
  for (std::size_t i = 0; i < weights.size(); ++i) CHECK(ways[i] == weights[i]);
  for (const std::size_t row : {0u, 1u})
    for (std::uint32_t bits = 0; bits < 0xfff00000; bits += 0x10001) {
      const std::uint32_t drawn = view.draw(row, bits);
      REQUIRE(drawn != 1);
      REQUIRE(drawn < 7);
    }
}

TEST_CASE("alias table draws work at compile time, as in a GPU kernel") {
  static constexpr AliasView::Bucket kBuckets[] = {{0x40000000, 1}, {0x80000000, 1}};
  constexpr AliasView kQuarter{kBuckets, 1};
  static_assert(kQuarter.draw(0, 0x3fffffff) == 0);
  static_assert(kQuarter.draw(0, 0x40000000) == 1);
  static_assert(kQuarter.draw(0, 0xffffffff) == 1);
  static constexpr std::uint32_t kFirst[] = {0, 1, 9};
  constexpr ZipfView kRanks{kQuarter, kFirst};
  static_assert(kRanks.draw(0) == 0);
  static_assert(kRanks.draw(~std::uint64_t{0}) == 8);
  CHECK(kRanks.draw(0x8000000080000000) == 5);
}

TEST_CASE("weights that do not sum to 2^32 are refused") {
  AliasTable table(2);
  const std::vector<std::uint32_t> weights = {1u << 31, (1u << 31) - 1};
  CHECK_THROWS_AS(table.add(weights), Error);
}

TEST_CASE("ranks follow Zipf's law at every size and cover every row") {
  for (const std::uint32_t rows : {2u, 64u, 65u, 1000u, 10000000u})
    for (const double exponent : {1.0, 1.05, 1.2}) {
      const Zipf zipf(rows, exponent);
      double sum = 0, harmonic = 0;
      for (std::uint32_t rank = 0; rank < rows; ++rank) {
        sum += zipf.probability(rank);
        harmonic += std::pow(rank + 1.0, -exponent);
      }
      CHECK(sum == Approx(1));
      for (std::uint32_t rank = 0; rank < rows; rank = rank * 3 / 2 + 1)
        CHECK(zipf.probability(rank) ==
              Approx(std::pow(rank + 1.0, -exponent) / harmonic).epsilon(0.02));
      CHECK(zipf.view().draw(~std::uint64_t{0}) < rows);
    }
}

TEST_CASE("draws from Zipf's law have the expected frequencies") {
  const Zipf zipf(1000, 1.1);
  const RandomStream stream = random_stream(1, 1);
  std::vector<int> seen(1000);
  constexpr int kDraws = 1000000;
  for (std::uint64_t i = 0; i < kDraws; ++i) ++seen.at(zipf.view().draw(stream.bits(i)));
  double chi = 0;
  for (std::uint32_t rank = 0; rank < 1000; ++rank) {
    const double expected = kDraws * zipf.probability(rank);
    chi += std::pow(seen[rank] - expected, 2) / expected;
  }
  CHECK(std::abs(chi - 999) < 4 * std::sqrt(2.0 * 999));
}

}  // namespace
}  // namespace bench::training
