#include "training/sources/finite.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/sources/click_model.h"
#include "training/sources/grammar.h"

namespace bench::training {
namespace {

std::vector<std::uint64_t> epoch_of(const FiniteOrder& order, std::uint64_t epoch) {
  std::vector<std::uint64_t> samples;
  for (std::uint64_t i = 0; i < order.size(); ++i)
    samples.push_back(order.at(epoch * order.size() + i));
  return samples;
}

TEST_CASE("each epoch has every sample once in a new order") {
  for (const std::uint64_t size : {1u, 2u, 3u, 5u, 64u, 1000u, 4097u}) {
    const FiniteOrder order(size, 3);
    std::vector<std::uint64_t> all(size);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    for (const std::uint64_t epoch : {0u, 1u, 77u}) {
      auto samples = epoch_of(order, epoch);
      if (size >= 64) CHECK(samples != all);
      std::sort(samples.begin(), samples.end());
      CHECK(samples == all);
    }
    if (size < 64) continue;
    CHECK(epoch_of(order, 0) != epoch_of(order, 1));
    CHECK(epoch_of(order, 0) != epoch_of(FiniteOrder(size, 4), 0));
    CHECK(order.epoch(size - 1) == 0);
    CHECK(order.epoch(size) == 1);
  }
}

TEST_CASE("the positions of neighbouring samples in an epoch are independent") {
  constexpr std::uint64_t kSize = 20000;
  const auto samples = epoch_of(FiniteOrder(kSize, 1), 0);
  double along = 0, in_place = 0;
  for (std::uint64_t i = 0; i < kSize; ++i) {
    const auto centred = [](std::uint64_t x) { return static_cast<double>(x) / kSize - 0.5; };
    along += centred(samples[i]) * centred(samples[(i + 1) % kSize]);
    in_place += centred(samples[i]) * centred(i);
  }
  CHECK(std::abs(along) < 4 * std::sqrt(kSize) / 12);
  CHECK(std::abs(in_place) < 4 * std::sqrt(kSize) / 12);
}

TEST_CASE("a finite source repeats training sequences over epochs, not evaluation") {
  const GrammarSource endless(GrammarOptions{});
  const FiniteTokens few(endless, 10, 1);
  CHECK(few.size(Split::train) == 10);
  CHECK(few.size(Split::evaluation) == std::nullopt);
  const auto tokens = [](const TokenSource& source, Split split, std::uint64_t index) {
    std::vector<std::int32_t> read(65);
    source.read(split, index, {.tokens = read});
    return read;
  };
  const auto epoch = [&](std::uint64_t first) {
    std::vector<std::vector<std::int32_t>> all;
    for (std::uint64_t i = 0; i < 10; ++i) all.push_back(tokens(few, Split::train, first + i));
    std::sort(all.begin(), all.end());
    return all;
  };
  CHECK(epoch(0) == epoch(10));
  CHECK(std::ranges::count(epoch(0), tokens(endless, Split::train, 7)) == 1);
  CHECK(tokens(few, Split::evaluation, 4) == tokens(endless, Split::evaluation, 4));
  CHECK_THROWS_AS(FiniteTokens(few, 11, 1), Error);
  CHECK_THROWS_AS(FiniteOrder(0, 1), Error);
}

TEST_CASE("a finite click log keeps the labels of its samples") {
  const ClickModel endless(tiny_clicks());
  const FiniteClicks few(endless, 50, 1);
  const auto total = [&](std::uint64_t first) {
    double sum = 0;
    for (std::uint64_t i = 0; i < 50; ++i) {
      std::vector<float> dense(13);
      std::vector<std::int32_t> ids(12);
      ClickSample sample{.dense = dense, .ids = ids};
      few.read(Split::train, first + i, sample);
      sum += sample.label + sample.probability;
    }
    return sum;
  };
  CHECK(total(0) == Approx(total(50)).epsilon(1e-12));
}

}  // namespace
}  // namespace bench::training
