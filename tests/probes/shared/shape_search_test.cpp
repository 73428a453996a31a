#include "probes/shared/shape_search.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/catch.h"

namespace bench {
namespace {

using Model = std::function<std::optional<Seconds>(const GemmShape&)>;

/// A chip of 132 multiprocessors with tiles of 128 x 256 whose last wave may be half empty, and a
/// start-up cost that long k hide.
Seconds waves(const GemmShape& s) {
  const double tiles =
      std::ceil(static_cast<double>(s.m) / 128) * std::ceil(static_cast<double>(s.n) / 256);
  const double per_wave = 2.0 * 128 * 256 * static_cast<double>(s.k) * 132 / 1e15 + 1e-5;
  return Seconds{std::ceil(tiles / 132) * per_wave};
}

constexpr ShapeBounds kLarge{.most_bytes = 8e9,
                             .element_bytes = 2.0,
                             .output_bytes = 2.0,
                             .multiprocessors = 132,
                             .most_calls = 20.0};

/// Each trial takes 20 products; the clock moves by nothing else.
ShapeSearch searched(const ShapeBounds& bounds, double budget_s, const Model& model) {
  ShapeSearch search(bounds, Seconds{budget_s});
  Seconds now{0.0};
  while (const auto shape = search.next(now)) {
    const auto seconds = model(*shape);
    now = now + Seconds{seconds ? 20 * seconds->value : 1e-3};
    search.record(seconds);
  }
  return search;
}

TEST_CASE("shapes in whole waves have a whole number of tiles for each multiprocessor") {
  for (const int multiprocessors : {108, 132, 148})
    for (const int waves : {1, 3, 8}) {
      const GemmShape s = whole_waves(multiprocessors, waves, 128, 256, 4096);
      CHECK(s.m / 128 * (s.n / 256) == multiprocessors * waves);
      CHECK(s.k == 4096);
      const double skew = static_cast<double>(s.m) / static_cast<double>(s.n);
      CHECK((skew > 0.2 && skew < 5.0));
    }
}

TEST_CASE("the winner is nearly as fast as the model allows, and faster than the best cube") {
  const ShapeSearch search = searched(kLarge, 10.0, waves);
  const auto winner = search.winner();
  REQUIRE(winner);
  const double found = winner->operations() / waves(*winner).value;
  const GemmShape ideal = whole_waves(132, 16, 128, 256, kLarge.largest);
  CHECK(found > 0.97 * ideal.operations() / waves(ideal).value);
  for (const std::int64_t size : {1024, 2048, 4096, 8192, 16384}) {
    const GemmShape cube{size, size, size};
    CHECK(found > cube.operations() / waves(cube).value);
  }
}

TEST_CASE("only the best few shapes are timed twice, at the end") {
  const ShapeSearch search = searched(kLarge, 10.0, waves);
  const auto& trials = search.trials();
  CHECK(trials.size() > 30);
  std::size_t again = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    again += trials[i].again;
    if (again > 0) CHECK(trials[i].again);
    for (std::size_t j = 0; j < i; ++j)
      if (!trials[i].again)
        CHECK((trials[i].shape.m != trials[j].shape.m || trials[i].shape.n != trials[j].shape.n ||
               trials[i].shape.k != trials[j].shape.k));
  }
  CHECK(again == 3);
}

TEST_CASE("a shape that was fast by luck loses to one that is fast again") {
  int call = 0;
  const auto lucky = [&](const GemmShape& shape) {
    const bool luck = ++call == 5;
    return std::optional(Seconds{waves(shape).value / (luck ? 50.0 : 1.0)});
  };
  const ShapeSearch search = searched(kLarge, 10.0, lucky);
  const auto winner = search.winner();
  const GemmShape lucky_one = search.trials().at(4).shape;
  CHECK_FALSE((winner->m == lucky_one.m && winner->n == lucky_one.n && winner->k == lucky_one.k));
  CHECK(winner->operations() / waves(*winner).value > 0.9e15);
}

TEST_CASE("no trial begins after the budget, or would use up the budget") {
  for (const double budget : {0.0, 0.01, 0.1, 1.0}) {
    ShapeSearch search(kLarge, Seconds{budget});
    Seconds now{0.0};
    while (const auto shape = search.next(now)) {
      CHECK(now.value < budget);
      const Seconds seconds = waves(*shape);
      if (search.trials().size() > 2) CHECK(20 * seconds.value < 0.5 * budget);
      now = now + Seconds{20 * seconds.value};
      search.record(seconds);
    }
    CHECK(now.value <= 1.5 * budget + 0.01);
    CHECK(search.winner().has_value() == (budget > 0.0));
  }
}

TEST_CASE("shapes fit in memory and the bounds, and are multiples of the tile size") {
  ShapeBounds small = kLarge;
  small.most_bytes = 40e6;
  small.largest = 8192;
  const ShapeSearch search = searched(small, 10.0, waves);
  for (const ShapeTrial& trial : search.trials()) {
    const auto [m, n, k] = trial.shape;
    CHECK(2.0 * static_cast<double>(m * k + k * n + m * n) <= 40e6);
    CHECK(std::max({m, n, k}) <= 8192);
    CHECK((m % 128 == 0 && n % 128 == 0 && k % 128 == 0));
  }
}

TEST_CASE("unsupported shapes are skipped; without supported ones there is no winner") {
  const ShapeSearch some = searched(kLarge, 10.0, [](const GemmShape& s) {
    return s.k > 4096 ? std::nullopt : std::optional(waves(s));
  });
  CHECK(some.winner()->k <= 4096);
  const ShapeSearch none =
      searched(kLarge, 10.0, [](const GemmShape&) { return std::optional<Seconds>(); });
  CHECK_FALSE(none.winner());
  CHECK_FALSE(none.trials().empty());
}

TEST_CASE("without known multiprocessors the search uses cubes and their neighbours") {
  ShapeBounds host{.most_bytes = 1e9, .element_bytes = 4.0, .output_bytes = 4.0};
  const auto core = [](const GemmShape& s) {  // best near 768, where the cache ends
    const double size = std::cbrt(s.operations() / 2);
    const double rate = 1e11 / (1.0 + std::abs(std::log(size / 768)));
    return std::optional(Seconds{s.operations() / rate});
  };
  const auto winner = searched(host, 20.0, core).winner();
  REQUIRE(winner);
  const double size = std::cbrt(winner->operations() / 2);
  CHECK(size == Approx(768).epsilon(0.1));
}

}  // namespace
}  // namespace bench
