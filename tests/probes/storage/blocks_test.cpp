// Blocks that know their place, the order they are visited in, and histograms of latencies.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/order_statistics.h"
#include "probes/storage/aligned_buffer.h"
#include "probes/storage/file_load.h"
#include "probes/storage/latency_histogram.h"
#include "probes/storage/random_blocks.h"
#include "tests/support/catch.h"

namespace bench::storage {

TEST_CASE("blocks are valid only at their own place, and a flipped bit in a body is found") {
  AlignedBuffer buffer(8 * kBlockBytes);
  fill_blocks(buffer.all(), 7);
  stamp_blocks(buffer.all(), 100, 7);
  CHECK(wrong_blocks(buffer.all(), 100, 7, true) == 0);
  CHECK(wrong_blocks(buffer.all(), 101, 7, false) == 8);
  CHECK(wrong_blocks(buffer.all(), 100, 8, false) == 8);
  buffer.all()[3 * kBlockBytes + 2000] ^= std::byte{4};
  CHECK(wrong_blocks(buffer.all(), 100, 7, false) == 0);
  CHECK(wrong_blocks(buffer.all(), 100, 7, true) == 1);
  buffer.all()[5 * kBlockBytes] ^= std::byte{1};
  CHECK(wrong_blocks(buffer.all(), 100, 7, false) == 1);
}

TEST_CASE("a block of zeros is wrong") {
  const AlignedBuffer zeros(kBlockBytes);
  CHECK(wrong_blocks(zeros.all(), 0, 0, false) == 1);
}

TEST_CASE("bodies of blocks are random: all bytes are about equally frequent") {
  AlignedBuffer buffer(64 * kBlockBytes);
  fill_blocks(buffer.all(), 3);
  std::vector<double> counts(256, 0.0);
  for (const std::byte byte : buffer.all()) counts[static_cast<std::size_t>(byte)] += 1.0;
  const double expected = static_cast<double>(buffer.all().size()) / 256.0;
  for (std::size_t value = 1; value < 256; ++value)  // the stamps have zeros
    CHECK(std::abs(counts[value] - expected) < 6.0 * std::sqrt(expected));
}

TEST_CASE("a random order visits each block once and differs between seeds") {
  for (const std::uint64_t count : {1u, 2u, 3u, 17u, 1000u, 4096u}) {
    const BlockOrder order(Order::random, count, 5);
    std::vector<std::uint64_t> visited;
    for (std::uint64_t i = 0; i < count; ++i) visited.push_back(order.at(i));
    CHECK(order.at(count) == order.at(0));
    std::ranges::sort(visited);
    for (std::uint64_t i = 0; i < count; ++i) REQUIRE(visited[i] == i);
  }
  const BlockOrder one(Order::random, 1000, 1), two(Order::random, 1000, 2);
  int equal = 0, next_to = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    equal += one.at(i) == two.at(i) ? 1 : 0;
    next_to += one.at(i + 1) == one.at(i) + 1 ? 1 : 0;
  }
  CHECK(equal < 20);
  CHECK(next_to < 20);
}

TEST_CASE("quantiles of a histogram equal those of the values within 1.6 per cent") {
  LatencyHistogram histogram, other;
  std::vector<double> values;
  for (int i = 1; i <= 20000; ++i) {
    const double seconds = 40e-9 * std::exp(i * 1e-3);  // 40 ns to 19 s
    values.push_back(seconds);
    (i % 2 == 0 ? histogram : other).add(Seconds{seconds});
  }
  histogram.add(other);
  CHECK(histogram.count() == 20000);
  for (const double q : {0.01, 0.5, 0.99, 0.999, 1.0}) {
    const double exact = quantile(values, q);
    CHECK(histogram.quantile(q).value == Approx(exact).epsilon(0.02));
    CHECK(histogram.quantile(q).value >= exact * 0.999);
  }
  CHECK(std::isnan(LatencyHistogram().quantile(0.5).value));
}

}  // namespace bench::storage
