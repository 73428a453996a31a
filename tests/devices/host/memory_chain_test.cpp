#include <cstring>
#include <vector>

#include "core/error.h"
#include "devices/host/host_cpus.h"
#include "devices/host/memory_survey.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

struct ChainFixture {
  explicit ChainFixture(double bytes, double cached = 1e9)
      : chain({bytes, Pages::small, {}, 42}, HostCpus::allowed().all(), cached, watch) {}
  HostThreadWatch watch;
  HostChain chain;
};

}  // namespace

TEST_CASE("a chain visits every node once before it comes back") {
  for (unsigned bits = 2; bits <= 17; ++bits)
    for (std::uint64_t seed : {1u, 2u, 99u}) {
      const ChainOrder order(bits, seed);
      std::vector<bool> seen(order.nodes());
      std::uint64_t node = order.after(0);
      std::uint64_t count = 0;
      while (!seen[node]) {
        seen[node] = true;
        node = order.next(node);
        ++count;
      }
      CHECK(count == order.nodes());
      CHECK(node == order.after(0));
    }
}

TEST_CASE("where any number of steps leads is known without walking") {
  const ChainOrder order(12, 7);
  std::uint64_t node = order.after(0);
  for (std::uint64_t steps = 0; steps < 10000; ++steps) {
    REQUIRE(order.after(steps) == node);
    node = order.next(node);
  }
}

TEST_CASE("the order looks random: neighbours in time are no neighbours in memory") {
  const ChainOrder order(16, 3);
  std::uint64_t near = 0, node = order.after(0);
  std::vector<int> strides(8);
  std::uint64_t last_stride = 0, repeated = 0;
  for (int i = 0; i < 65536; ++i) {
    const std::uint64_t next = order.next(node);
    const std::uint64_t stride = (next - node) & 0xffff;
    if (stride < 64 || stride > 65536 - 64) ++near;  // the same page or the next: 128 of 65536
    if (stride == last_stride) ++repeated;
    last_stride = stride;
    node = next;
  }
  CHECK(near < 400);
  CHECK(repeated < 40);
}

TEST_CASE("another seed gives another order, the same seed the same") {
  const ChainOrder a(16, 1), b(16, 1), c(16, 2);
  int same = 0;
  for (std::uint64_t node = 0; node < 1000; ++node) {
    CHECK(a.next(node) == b.next(node));
    same += a.next(node) == c.next(node);
  }
  CHECK(same < 10);
}

TEST_CASE("a walk of any length ends where it must, whichever way the chain was written") {
  for (double cached : {0.0, 1e9}) {
    ChainFixture fixture(65536, cached);
    for (double bytes : {256.0, 4096.0, 65536.0}) {
      fixture.chain.prepare(bytes);
      for (std::int64_t loads : {0, 1, 15, 16, 17, 100003}) {
        fixture.chain.run(loads);
        REQUIRE(fixture.chain.verify().passed());
      }
    }
  }
}

TEST_CASE("a pointer with one flipped bit is found once the walk came by") {
  ChainFixture fixture(65536);
  fixture.chain.prepare(65536);
  std::byte* pointer = fixture.chain.node(17);
  pointer[1] ^= std::byte{1};  // 256 bytes off: another node of the chain
  fixture.chain.run(100003);
  CHECK_FALSE(fixture.chain.verify().passed());
}

TEST_CASE("a skipped load is found") {
  ChainFixture fixture(65536);
  fixture.chain.prepare(65536);
  const ChainOrder order(10, 42);
  const std::uint64_t first = order.after(0);
  const std::byte* beyond_next = fixture.chain.node(order.next(order.next(first)));
  std::memcpy(fixture.chain.node(first), &beyond_next, sizeof beyond_next);
  fixture.chain.run(1);
  CHECK_FALSE(fixture.chain.verify().passed());
}

TEST_CASE("a chain that is not a power of two or exceeds its space is rejected") {
  ChainFixture fixture(65536);
  CHECK_THROWS_AS(fixture.chain.prepare(5000), Error);
  CHECK_THROWS_AS(fixture.chain.prepare(128), Error);
  CHECK_THROWS_AS(fixture.chain.prepare(1048576), Error);
  CHECK_THROWS_AS(fixture.chain.prepare(-1), Error);
}

}  // namespace bench
