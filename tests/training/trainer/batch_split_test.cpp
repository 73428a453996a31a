#include "training/trainer/batch_split.h"

#include <set>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/trainer/trainer.h"

namespace bench::training {
using Catch::Matchers::Contains;

TEST_CASE("ranks, lanes and micro-batches cover every sample of a step once") {
  const BatchSplit split = split_batch(48, 2, 3, 8, 4);
  CHECK(split.micro_batch == 4);
  CHECK(split.micro_batches == 2);
  std::set<std::uint64_t> seen;
  for (int rank = 0; rank < 2; ++rank)
    for (int number = 0; number < split.lanes * split.micro_batches; ++number)
      for (std::int64_t i = 0; i < split.micro_batch; ++i)
        CHECK(seen.insert(split.first(5, rank, number) + static_cast<std::uint64_t>(i)).second);
  CHECK(seen.size() == 48);
  CHECK(*seen.begin() == 5 * 48);
  CHECK(*seen.rbegin() == 6 * 48 - 1);
}

TEST_CASE("the default number of lanes is the most cores that divide the samples") {
  CHECK(split_batch(32, 1, 0, 3, 0).lanes == 2);
  CHECK(split_batch(7, 1, 0, 4, 0).lanes == 1);
  CHECK(split_batch(32, 1, 0, 64, 4).lanes == 32);
}

TEST_CASE("the micro-batch is the largest allowed divisor of a lane's part") {
  CHECK(split_batch(30, 1, 1, 1, 4).micro_batch == 3);
  CHECK(split_batch(32, 1, 2, 2, 0).micro_batch == 16);
}

TEST_CASE("a batch that cannot be split equally is refused with a valid alternative") {
  CHECK_THROWS_WITH(split_batch(32, 3, 1, 1, 0),
                    Contains("32 samples cannot be split over 3 ranks"));
  CHECK_THROWS_WITH(split_batch(32, 2, 3, 1, 0),
                    Contains("16 samples per rank cannot be split over 3 lanes"));
  CHECK_THROWS_AS(split_batch(0, 1, 1, 1, 0), Error);
}

TEST_CASE("another batch size keeps horizon, warm-up and evaluations in samples, and the rates") {
  Recipe recipe;
  recipe.batch = 32;
  recipe.horizon = 1000;
  recipe.schedule = {Schedule::Shape::linear_last, 4e-3, 60, 1000};
  recipe.evaluation_every = 40;
  const Recipe doubled = with_batch(recipe, 64);
  CHECK(doubled.batch == 64);
  CHECK(doubled.horizon == 500);
  CHECK(doubled.schedule.horizon == 500);
  CHECK(doubled.schedule.warmup == 30);
  CHECK(doubled.schedule.peak == 4e-3);
  CHECK(doubled.evaluation_every == 20);
  CHECK(with_batch(recipe, 1 << 20).evaluation_every == 1);
}

}  // namespace bench::training
