#include <atomic>
#include <stdexcept>
#include <vector>

#include "tests/support/catch.h"
#include "training/engine/worker_pool.h"

namespace bench::training {

TEST_CASE("each pool thread does its part once per run over many runs") {
  for (const int threads : {1, 2, 5}) {
    WorkerPool pool(threads);
    std::vector<int> done(static_cast<std::size_t>(threads));
    for (int i = 0; i < 300; ++i)
      pool.run([&](int thread) { ++done[static_cast<std::size_t>(thread)]; });
    CHECK(done == std::vector<int>(static_cast<std::size_t>(threads), 300));
  }
}

TEST_CASE("an exception of a pool thread is rethrown once and the pool continues") {
  WorkerPool pool(3);
  std::atomic<int> others{0};
  const auto work = [&](int thread) {
    if (thread == 2) throw std::runtime_error("part 2");
    ++others;
  };
  CHECK_THROWS_WITH(pool.run(work), "part 2");
  CHECK(others == 2);
  CHECK_NOTHROW(pool.run([&](int) { ++others; }));
  CHECK(others == 5);
}

}  // namespace bench::training
