#include "probes/storage/load_result.h"

#include <atomic>
#include <numeric>
#include <stdexcept>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"

namespace bench::storage {
namespace {

using Values = std::vector<double>;

LoadResult of_thread(Values slice_bytes, double wall, double first_pass) {
  LoadResult one;
  one.bytes = std::accumulate(slice_bytes.begin(), slice_bytes.end(), 0.0);
  one.slice_bytes = std::move(slice_bytes);
  one.operations = 1.0;
  one.wall = {wall};
  one.first_pass = {first_pass};
  return one;
}

}  // namespace

TEST_CASE("an amount is spread over the slices of its time, and nothing of it is lost") {
  Values slices;
  spread(slices, {1.0}, {0.25}, {0.75}, 8.0);
  CHECK(slices == Values{8.0});
  spread(slices, {1.0}, {0.5}, {2.5}, 8.0);
  CHECK(slices == Values{10.0, 4.0, 2.0});
  spread(slices, {1.0}, {1.0}, {2.0}, 8.0);
  CHECK(slices == Values{10.0, 12.0, 2.0});
  spread(slices, {1.0}, {3.0}, {3.0}, 1.0);
  CHECK(slices == Values{10.0, 12.0, 2.0, 1.0});
}

TEST_CASE("threads add up, and all are busy until the first one ended") {
  const std::vector<LoadResult> threads = {of_thread({1.0, 2.0}, 2.0, 1.0),
                                           of_thread({10.0, 20.0, 30.0}, 3.0, 2.0)};
  const LoadResult all = over_threads(threads);
  CHECK(all.slice_bytes == Values{11.0, 22.0, 30.0});
  CHECK(all.bytes == 63.0);
  CHECK(all.wall.value == 3.0);
  CHECK(all.all_busy.value == 2.0);
  CHECK(all.first_pass.value == 2.0);
  CHECK(over_threads(std::vector{threads[0], of_thread({1.0}, 1.0, 0.0)}).first_pass.value == 0.0);
}

TEST_CASE("slices of ranks end with the first rank that did; few slices are one rate") {
  LoadResult all;
  run_ranks(2, [&](Group& group) {
    LoadResult own = of_thread(Values(group.rank() == 0 ? 5 : 4, 1.0), 5.0, 0.0);
    own.all_busy = {group.rank() == 0 ? 5.0 : 3.5};
    own = over_ranks(group, own, {1.0});
    if (group.rank() == 0) all = own;
  });
  CHECK(all.slice_bytes == Values{2.0, 2.0, 2.0});
  CHECK(rates(all, {0.5}, false) == Values{4.0, 4.0, 4.0});
  CHECK(rates(all, {0.5}, true) == Values{9.0 / 5.0});
  all.slice_bytes.pop_back();
  CHECK(rates(all, {0.5}, false) == Values{9.0 / 5.0});
}

TEST_CASE("threads begin together, and a failure of one is thrown when all have ended") {
  std::atomic<int> ended = 0;
  CHECK_THROWS_WITH(run_at_once(4,
                                [&](int thread, Seconds) {
                                  ++ended;
                                  if (thread > 1)
                                    throw std::runtime_error("thread " + std::to_string(thread));
                                }),
                    "thread 2");
  CHECK(ended == 4);
}

}  // namespace bench::storage
