#include "devices/cuda/chunk_ring.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <vector>

#include "tests/support/catch.h"

namespace bench {
namespace {

constexpr std::size_t kBuffers = 6;

/// Copies as late as a device may: a buffer is filled when its chunk is waited for, and emptied
/// when somebody waits for that. Or as early: at once.
struct SlowEngine {
  const std::vector<int>& from;
  std::vector<int>& to;
  bool early = false;
  std::vector<int> buffers = std::vector<int>(kBuffers, -1);
  std::deque<std::size_t> loading = {}, storing = {};
  std::size_t most_loading = 0;

  void load(std::size_t i) {
    loading.push_back(i);
    most_loading = std::max(most_loading, loading.size());
    if (early) buffers[i % kBuffers] = from[i];
  }
  void arrived(std::size_t i) {
    REQUIRE(!loading.empty());
    CHECK(loading.front() == i);
    loading.pop_front();
    if (!early) buffers[i % kBuffers] = from[i];
  }
  void store(std::size_t i) {
    if (early)
      to[i] = buffers[i % kBuffers];
    else
      storing.push_back(i);
  }
  template <std::size_t count>
  void emptied_but() {
    for (; storing.size() > count; storing.pop_front())
      to[storing.front()] = buffers[storing.front() % kBuffers];
  }
};

TEST_CASE("every chunk is copied once, whether the device is early or late") {
  for (const bool early : {false, true})
    for (const std::size_t count : {0u, 1u, 2u, 3u, 5u, 6u, 7u, 50u}) {
      std::vector<int> from(count), to(count, -2);
      std::iota(from.begin(), from.end(), 10);
      SlowEngine engine{from, to, early};
      copy_chunks<kBuffers>(engine, count);
      CHECK(to == from);
      CHECK(engine.loading.empty());
      CHECK(engine.storing.empty());
      CHECK(engine.most_loading == std::min<std::size_t>(count, kBuffers / 2 + 1));
    }
}

TEST_CASE("the blocks of a grid share the chunks") {
  for (const std::size_t chunks : {0u, 1u, 7u, 132u, 1000u})
    for (const std::size_t blocks : {1u, 7u, 132u}) {
      std::vector<int> met(chunks, 0);
      for (std::size_t block = 0; block < blocks; ++block)
        for (std::size_t i = 0; i < chunks_of_block(chunks, blocks, block); ++i)
          ++met.at(block + i * blocks);
      CHECK(std::ranges::all_of(met, [](int times) { return times == 1; }));
    }
}

}  // namespace
}  // namespace bench
