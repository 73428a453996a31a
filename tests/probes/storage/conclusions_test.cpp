// What is concluded from times and rates: intervals, projections, pitfalls; and facts.
#include <cmath>
#include <fstream>

#include "core/error.h"
#include "probes/storage/checkpoint_series.h"
#include "probes/storage/pitfalls.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::storage {
namespace {

using Catch::Matchers::Contains;

/// Chunks of a byte each, at a rate for the first so many and another for the rest.
std::vector<Progress> chunks(int count, int first, double rate, double later) {
  std::vector<Progress> all;
  double time = 0.0;
  for (int i = 1; i <= count; ++i) {
    time += 1.0 / (i <= first ? rate : later);
    all.push_back({Seconds{time}, static_cast<double>(i)});
  }
  return all;
}

}  // namespace

TEST_CASE("Young's and Daly's intervals match their papers") {
  const CheckpointInterval best = best_interval(Seconds{50.0}, Seconds{86400.0}, Seconds{0.0});
  CHECK(best.young.value == Approx(std::sqrt(2.0 * 50.0 * 86400.0)));
  const double ratio = 50.0 / (2.0 * 86400.0);
  CHECK(best.daly.value ==
        Approx(best.young.value * (1.0 + std::sqrt(ratio) / 3.0 + ratio / 9.0) - 50.0));
  CHECK(best.lost == Approx(50.0 / (best.daly.value + 50.0) + best.daly.value / 2.0 / 86400.0));
  CHECK(best_interval(Seconds{300.0}, Seconds{100.0}, Seconds{0.0}).daly.value == 100.0);
  CHECK(best_interval(Seconds{300.0}, Seconds{100.0}, Seconds{1e6}).lost == 1.0);
}

TEST_CASE("no interval near Young's loses less time") {
  const auto lost = [](double interval) {
    return 20.0 / (interval + 20.0) + interval / 2.0 / 50000.0;
  };
  const double best = best_interval(Seconds{20.0}, Seconds{50000.0}, Seconds{0.0}).daly.value;
  CHECK(lost(best) < lost(best * 1.3));
  CHECK(lost(best) < lost(best / 1.3));
}

TEST_CASE("checkpoint sizes are those of MLPerf Storage, or 2 bytes per parameter") {
  CHECK(checkpoint_bytes("70b", "weights") == 140e9);
  CHECK(checkpoint_bytes("70b", "full") == 912e9);
  CHECK(checkpoint_bytes("1t", "full") == 18e12);
  CHECK_THROWS_WITH(checkpoint_bytes("70", "full"), Contains("unknown model '70'"));
}

TEST_CASE("a steady rate is extrapolated, a changing one or one into a cache is not") {
  WrittenAmount written{.bytes = 1e9, .duration = {2.0}};
  written.late_over_before = late_over_before(chunks(100, 100, 5.0, 5.0));
  CHECK(written.late_over_before == Approx(1.0));
  CHECK(project(written, 140e9).time->value == Approx(280.0));
  SECTION("a cliff in the last quarter") {
    written.late_over_before = late_over_before(chunks(100, 75, 5.0, 2.0));
    CHECK(written.late_over_before == Approx(0.4).epsilon(0.05));
    CHECK_FALSE(project(written, 140e9).time);
    CHECK_THAT(project(written, 140e9).reason, Contains("not steady") && Contains("'scale'"));
  }
  SECTION("less than twice a cache") {
    written.cache_bytes = 0.6e9;
    CHECK_FALSE(project(written, 140e9).time);
    CHECK_THAT(project(written, 140e9).reason, Contains("cache"));
    written.cache_bytes = 0.5e9;
    CHECK(project(written, 140e9).time);
  }
  SECTION("too few chunks to know") {
    written.late_over_before = late_over_before(chunks(15, 15, 5.0, 5.0));
    CHECK(std::isnan(written.late_over_before));
    CHECK_FALSE(project(written, 140e9).time);
    CHECK(project(written, 1e9).time->value == Approx(2.0));  // what was written needs no guess
  }
}

TEST_CASE("a lower cache, a burst and a warm page cache are named only if present") {
  CHECK_FALSE(cache_beneath(1e9, 1.2e9));
  CHECK_FALSE(cache_beneath(std::nan(""), 1e9));
  REQUIRE(cache_beneath(1e9, 1.3e9));
  CHECK(cache_beneath(1e9, 1.3e9)->name == "cache_beneath");

  const std::vector<double> steady(20, 100.0);
  std::vector<double> falling = steady;
  for (std::size_t i = 12; i < falling.size(); ++i) falling[i] = 50.0;
  CHECK_FALSE(burst_cliff(steady));
  CHECK_FALSE(burst_cliff(std::vector<double>{100.0, 10.0}));
  REQUIRE(burst_cliff(falling));
  CHECK_THAT(burst_cliff(falling)->text, Contains("after 1.172 KiB"));

  CHECK_FALSE(not_from_device(100.0, 95.0));
  CHECK(not_from_device(100.0, 50.0));
  CHECK_FALSE(still_resident(0.005));
  CHECK(still_resident(0.5));
}

TEST_CASE("file systems in memory, with a server, and with compressed zeros are named") {
  FileSystemFacts facts;
  facts.type = "ext4";
  CHECK(pitfalls_of(facts, false).empty());
  CHECK(pitfalls_of(facts, std::nullopt).empty());
  CHECK(pitfalls_of(facts, true).at(0).name == "zeros_take_no_space");
  facts.network = true;
  CHECK(pitfalls_of(facts, false).at(0).name == "server_cache");
  facts = {};
  facts.type = "tmpfs";
  facts.memory = true;
  CHECK(pitfalls_of(facts, false).at(0).name == "memory_file_system");
}

TEST_CASE("memory and traffic of a device are read from the kernel's files") {
  TemporaryDirectory root;
  const auto put = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root.path() / path).parent_path());
    std::ofstream(root.path() / path) << text;
  };
  put("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    500 kB\n");
  put("sys/dev/block/8:16/stat", "  10 0 300 4 20 0 700 9 0 0 0\n");
  const SystemFiles files(root.path());
  CHECK(total_memory(files) == 1024000.0);
  CHECK(available_memory(files) == 512000.0);
  FileSystemFacts facts;
  CHECK_FALSE(traffic_of(facts, files));
  facts.device = "8:16";
  CHECK(traffic_of(facts, files)->read == 300 * 512.0);
  CHECK(traffic_of(facts, files)->written == 700 * 512.0);
  facts.device = "8:17";
  CHECK_FALSE(traffic_of(facts, files));
}

}  // namespace bench::storage
