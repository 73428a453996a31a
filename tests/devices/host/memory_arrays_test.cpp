#include "devices/host/memory_arrays.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/order_statistics.h"
#include "devices/host/host_cpus.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

constexpr double kMiB = 1048576.0;

struct ArraysFixture {
  explicit ArraysFixture(double bytes, int threads = 1)
      : request{bytes, threads, Pages::small, {}},
        arrays(request, HostCpus::allowed().first(threads), false, watch) {}

  HostThreadWatch watch;
  ArraysRequest request;
  HostArrays arrays;
};

int two_threads() { return std::min(2, HostCpus::allowed().count()); }

void flip_lowest_bit(double& value) {
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ 1u);
}

struct Case {
  MemoryKernel kernel;
  Stores stores;
  double payload, traffic;  // in arrays
};

const Case kCases[] = {
    {MemoryKernel::read, Stores::none, 1, 1},         {MemoryKernel::triad, Stores::plain, 3, 4},
    {MemoryKernel::triad, Stores::nontemporal, 3, 3}, {MemoryKernel::copy, Stores::plain, 2, 3},
    {MemoryKernel::copy, Stores::nontemporal, 2, 2},  {MemoryKernel::write, Stores::plain, 1, 2},
    {MemoryKernel::write, Stores::nontemporal, 1, 1}};

}  // namespace

TEST_CASE("each kernel gives exact results, in one window and in several, again and again") {
  ArraysFixture fixture(24 * kMiB, two_threads());
  for (int round = 0; round < 2; ++round)
    for (const Case& c : kCases)
      for (double bytes : {24 * kMiB, 4096.0 * 6, 3 * kMiB, 17 * kMiB})
        for (int threads = 1; threads <= two_threads(); ++threads) {
          fixture.arrays.prepare({c.kernel, c.stores, bytes, threads});
          for (int calls : {1, 2, 7}) {
            fixture.arrays.run(calls);
            INFO(kMemoryKernels.name(c.kernel) << " " << bytes << " " << calls);
            REQUIRE(fixture.arrays.verify().passed());
          }
        }
}

TEST_CASE("bytes are counted both ways, with and without the line a plain store reads first") {
  ArraysFixture fixture(kMiB);
  for (const Case& c : kCases) {
    const double arrays = array_count(c.kernel);
    const StreamAmount amount = fixture.arrays.prepare({c.kernel, c.stores, arrays * 65536, 1});
    CHECK(amount.payload == c.payload * 65536);
    CHECK(amount.traffic == c.traffic * 65536);
  }
}

TEST_CASE("a call moves one window of a large working set and all of a small one") {
  ArraysFixture fixture(12 * kMiB);
  const StreamAmount large =
      fixture.arrays.prepare({MemoryKernel::read, Stores::none, 12 * kMiB, 1});
  CHECK(large.payload == kWindowBytes);
  const StreamAmount small = fixture.arrays.prepare({MemoryKernel::read, Stores::none, 8192, 1});
  CHECK(small.payload == 8192);
}

TEST_CASE("one flipped bit anywhere in what was written is found") {
  ArraysFixture fixture(12 * kMiB);
  for (const Case& c : kCases) {
    if (c.kernel == MemoryKernel::read) continue;
    fixture.arrays.prepare({c.kernel, c.stores, 12 * kMiB, 1});
    fixture.arrays.run(3);
    REQUIRE(fixture.arrays.verify().passed());
    const auto written = fixture.arrays.destination(0);
    for (std::size_t at : {std::size_t{0}, written.size() / 2, written.size() - 1}) {
      flip_lowest_bit(written[at]);
      CHECK_FALSE(fixture.arrays.verify().passed());
      flip_lowest_bit(written[at]);
      REQUIRE(fixture.arrays.verify().passed());
    }
  }
}

TEST_CASE("a NaN in what was written does not pass") {
  ArraysFixture fixture(kMiB);
  fixture.arrays.prepare({MemoryKernel::copy, Stores::plain, kMiB, 1});
  fixture.arrays.run(1);
  fixture.arrays.destination(0)[5] = std::nan("");
  CHECK_FALSE(fixture.arrays.verify().passed());
}

TEST_CASE("a source that changed is found by the sum of read and by the result of triad") {
  ArraysFixture fixture(12 * kMiB);
  for (MemoryKernel kernel : {MemoryKernel::read, MemoryKernel::triad}) {
    fixture.arrays.prepare(
        {kernel, kernel == MemoryKernel::read ? Stores::none : Stores::plain, 12 * kMiB, 1});
    fixture.arrays.sources(0)[1000] += 1.0;
    fixture.arrays.run(3);
    CHECK_FALSE(fixture.arrays.verify().passed());
    fixture.arrays.sources(0)[1000] -= 1.0;
  }
}

TEST_CASE("what an earlier call or series left behind does not pass for a new result") {
  ArraysFixture fixture(12 * kMiB);
  for (const Case& c : kCases) {
    if (c.kernel == MemoryKernel::read) continue;
    fixture.arrays.prepare({c.kernel, c.stores, 12 * kMiB, 1});
    fixture.arrays.run(3);
    const auto before = fixture.arrays.destination(0);
    const std::vector<double> old(before.begin(), before.end());
    fixture.arrays.prepare({c.kernel, c.stores, 12 * kMiB, 1});
    fixture.arrays.run(3);
    REQUIRE(fixture.arrays.verify().passed());
    const auto after = fixture.arrays.destination(0);
    for (std::size_t at : {std::size_t{8}, after.size() - 8}) {  // as if this line was not stored
      const double right = after[at];
      after[at] = old[at];
      CHECK_FALSE(fixture.arrays.verify().passed());
      after[at] = right;
    }
  }
}

TEST_CASE(
    "a working set with less than a line for each array and thread is refused with its size") {
  ArraysFixture fixture(kMiB);
  CHECK_THROWS_WITH(fixture.arrays.prepare({MemoryKernel::triad, Stores::plain, 128, 1}),
                    Catch::Contains("128 bytes"));
}

TEST_CASE("verifying what never ran is an error of ours") {
  ArraysFixture fixture(kMiB);
  fixture.arrays.prepare({MemoryKernel::copy, Stores::plain, kMiB, 1});
  CHECK_THROWS_AS(fixture.arrays.verify(), Error);
}

TEST_CASE("two threads on one CPU are found to share a core, whatever they stream") {
  const int cpu = HostCpus::allowed().first(1).front();
  HostThreadWatch watch;
  HostArrays arrays({12 * kMiB, 2, Pages::small, {}}, {cpu, cpu}, false, watch);
  arrays.prepare({MemoryKernel::read, Stores::none, 12 * kMiB, 2});
  std::vector<double> shares;
  for (int i = 0; i < 9; ++i) {
    arrays.run(1);
    if (const auto share = arrays.core_share()) shares.push_back(*share);
  }
  // One alone says little on a busy machine, where one thread may be held up while the other runs.
  if (!shares.empty()) CHECK(median(shares) < 0.62);
  arrays.prepare({MemoryKernel::read, Stores::none, 6 * kMiB, 1});
  double most = vector_kernels().empty() ? 1.0 : 0.0;
  for (int i = 0; i < 20; ++i) most = std::max(most, arrays.core_share().value_or(0.0));
  CHECK(most > 0.8);  // one thread alone has it whole, at least once in twenty
}

TEST_CASE("local memory is reallocated for another number of threads") {
  HostThreadWatch watch;
  const int threads = two_threads();
  HostArrays arrays({8 * kMiB, threads, Pages::small, {}}, HostCpus::allowed().first(threads), true,
                    watch);
  for (int count : {threads, 1, threads}) {
    arrays.prepare({MemoryKernel::triad, Stores::nontemporal, 8 * kMiB, count});
    arrays.run(4);
    CHECK(arrays.verify().passed());
  }
}

}  // namespace bench
