// Series of loads as they are written: what a delay seeded into real reads and writes comes to in
// the pitfalls that are told, and what each of several hosts had.
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "probes/storage/storage_series.h"
#include "tests/probes/storage/disk_folder.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"
#include "tests/support/thread_group.h"

namespace bench::storage {
namespace {

using Catch::Matchers::Contains;

constexpr std::uint64_t kBlocks = 32;

/// One series on a file of kBlocks blocks, and the pitfalls seen in it.
struct LoadedSeries {
  DiskFolder folder;
  FileSystemFacts file_system;
  StorageSeries series;
  std::vector<Pitfall> pitfalls = {};
  ProbeJob job;

  LoadedSeries(Direction direction, double seconds)
      : job("storage", {{"path", folder.path().string()}}) {
    series.path = folder.path().string();
    series.pattern = direction == Direction::read ? "random_read" : "random_write";
    LoadRequest& load = series.load;
    load.file = folder.path() / "data";
    load.direction = direction;
    load.order = Order::random;
    load.access = Access::buffered;
    load.block_bytes = 16384;
    load.file_bytes = kBlocks * load.block_bytes;
    load.duration = {seconds};
    load.slice = load.duration / 20.0;
    make_load_file(load.file, load.file_bytes, Access::buffered, load.seed);
  }

  /// Reads and writes of the page cache, slower where `slow` says so.
  void run(const std::function<bool(std::uint64_t visit)>& slow) {
    series.load.observer = [slow](std::uint64_t visit) {
      std::this_thread::sleep_for(std::chrono::microseconds(slow(visit) ? 4000 : 1000));
    };
    State state(job.job, find_probe("storage"), job.device, *job.group, job.sink);
    measure_load(state, series, file_system, pitfalls);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Pitfall& one : pitfalls) all.push_back(one.name);
    return all;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("faster reads in the second pass are reported as a lower cache") {
  LoadedSeries cached(Direction::read, 0.25);
  cached.run([](std::uint64_t visit) { return visit < kBlocks; });
  CHECK(cached.names() == Names{"cache_beneath"});
  CHECK_THAT(cached.pitfalls.at(0).text, Contains("random_read of 16 KiB"));
}

TEST_CASE("writes that become slower are reported as the end of a burst") {
  LoadedSeries burst(Direction::write, 0.2);
  burst.run([](std::uint64_t visit) { return visit > 60; });
  CHECK(burst.names() == Names{"burst_cliff"});
}

TEST_CASE("reads that the device did not count came from a cache of this host") {
  LoadedSeries cached(Direction::read, 0.1);
  // A device that moves nothing meanwhile, in the place of the one below the folder.
  for (const char* idle : {"7:0", "1:0", "259:0", "11:0"})
    if (traffic_of(FileSystemFacts{.type = "", .device = idle})) cached.file_system.device = idle;
  if (cached.file_system.device.empty()) {
    WARN("no idle block device here");
    return;
  }
  cached.run([](std::uint64_t) { return false; });
  CHECK_THAT(cached.names(), Catch::Matchers::VectorContains(std::string("page_cache")));
}

TEST_CASE(
    "the bandwidth of each host is reported in addition to the sum, and a slow host is named") {
  std::vector<HostLoad> hosts;
  run_ranks(5, [&](Group& group) {
    LoadResult own;
    own.bytes = group.rank() == 4 ? 70.0 : 200.0;
    own.wall = {2.0};
    auto found = loads_of_hosts(group, own, group.rank() % 2 == 0 ? "even" : "odd");
    if (group.rank() == 0)
      hosts = found;
    else if (!found.empty())
      throw std::logic_error("a rank other than 0 has the hosts");
  });
  REQUIRE(hosts.size() == 2);
  CHECK(hosts[0].host == "even");
  CHECK(hosts[0].ranks == 3);
  CHECK(hosts[0].rate == Approx(235.0));
  CHECK(hosts[1].ranks == 2);
  CHECK(hosts[1].rate == Approx(200.0));
  // 78.3 and 100 a rank: the slower has 0.88 of their median.
  CHECK_FALSE(slow_host(hosts));
  CHECK_FALSE(slow_host(std::vector<HostLoad>{{"a", 1, 100.0}, {"b", 1, 81.0}, {"c", 2, 200.0}}));
  const auto slow =
      slow_host(std::vector<HostLoad>{{"a", 1, 100.0}, {"b", 2, 158.0}, {"c", 1, 100.0}});
  REQUIRE(slow);
  CHECK(slow->name == "slow_host");
  CHECK_THAT(slow->text, Contains("a rank of b got 79"));
  CHECK_FALSE(slow_host(std::vector<HostLoad>{{"alone", 3, 1.0}}));
}

}  // namespace bench::storage
