#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("perftest bandwidth: MB are MiB whatever the header calls them, Gb are 1e9 bits") {
  const CollectedImport sink = imported("perftest", "perftest/write_bw.txt");
  CHECK(sink.value("bandwidth", {{"size_bytes", 8388608}}) == Approx(23560.98 * 1048576));
  CHECK(sink.value("peak_bandwidth", {{"size_bytes", 65536}}) == Approx(23480.12 * 1048576));
  CHECK(sink.value("message_rate", {{"size_bytes", 65536}}) == Approx(375465));
  const auto one = sink.entries.front();
  CHECK(one.job.name == "rdma_write_bw");
  CHECK(one.samples.params["device"] == "mlx5_0");
  CHECK(one.samples.params["mtu"] == 4096);
  CollectedImport renamed;
  import_text("perftest",
              edited(edited(import_sample("perftest/write_bw.txt"), "peak[MB", "peak[MiB"),
                     "average[MB", "average[MiB"),
              renamed);
  CHECK(renamed.value("bandwidth", {{"size_bytes", 8388608}}) == Approx(23560.98 * 1048576));
  const CollectedImport gigabits = imported("perftest", "perftest/read_bw_gbits.txt");
  CHECK(gigabits.value("bandwidth") == Approx(196.84e9 / 8));
  CHECK(gigabits.of("peak_bandwidth").empty());  // 0.00: it was not measured
  CHECK(gigabits.entries.front().samples.params["queue_pairs"] == 2);
}

TEST_CASE("perftest latency: mean, median and tail in seconds, without its rounded deviation") {
  const CollectedImport sink = imported("perftest", "perftest/send_lat.txt");
  CHECK(sink.value("latency") == Approx(1.06e-6));
  CHECK(sink.value("latency_median") == Approx(1.05e-6));
  CHECK(sink.value("latency_p99") == Approx(1.22e-6));
  CHECK(sink.value("latency_p999") == Approx(4.87e-6));
  CHECK(sink.entries.size() == 6);
  CHECK(sink.entries.front().job.name == "send_latency");
}

TEST_CASE("a perftest that fails is a failed job with its error") {
  const CollectedImport sink = imported("perftest", "perftest/failed.txt");
  CHECK(sink.entries.empty());
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].status == Status::failed);
  CHECK(sink.ends[0].job.name == "rdma_write_bw");
  CHECK(has_part(sink.ends[0].reason, "Completion with error at client; Failed status 12"));
  CollectedImport slow;
  import_text("perftest",
              import_sample("perftest/write_bw.txt") + "Error: BW result is below bw limit\n",
              slow);
  REQUIRE(slow.ends.size() == 1);
  CHECK(has_part(slow.ends[0].reason, "below bw limit"));
  CHECK_THAT(refusal("perftest", "Couldn't connect to node02:18515\n"),
             Contains("failed before its test: Couldn't connect"));
}

TEST_CASE("single latencies of perftest -U are skipped, cycles are refused") {
  const std::string whole = import_sample("perftest/send_lat.txt");
  const std::string row = " 2       1000";
  const std::string header =
      whole.substr(whole.find(" #bytes"), whole.find(row) - whole.find(" #bytes"));
  const auto raw = [&](const std::string& unit) {
    return edited(
        whole, row,
        "#, " + unit + "\n1, 1.05\n2, 1.06\n" + std::string(87, '-') + "\n" + header + row);
  };
  CollectedImport sink;
  import_text("perftest", raw("usec"), sink);
  CHECK(sink.entries.size() == 6);
  CHECK(has_part(sink.all(), "skipped 2 single latencies"));
  CHECK_THAT(refusal("perftest", raw("cycles")), Contains("another unit than microseconds"));
}

TEST_CASE("perftest of both directions reports its two sides apart") {
  const std::string whole = import_sample("perftest/write_bw.txt");
  const std::string table = whole.substr(whole.find(" #bytes"));
  CollectedImport sink;
  import_text("perftest", whole + "\n Local results: \n" + std::string(87, '-') + "\n" + table,
              sink);
  CHECK(sink.of("bandwidth", {{"side", "local"}}).size() == 2);
  CHECK(sink.of("bandwidth").size() == 4);
}

TEST_CASE("truncated or unknown perftest output is refused") {
  const std::string whole = import_sample("perftest/write_bw.txt");
  const std::string row = whole.substr(0, whole.find(" 8388608"));
  CHECK_THAT(refusal("perftest", row), Contains("no line of dashes ends its table"));
  CHECK_THAT(refusal("perftest", whole.substr(0, whole.size() - 1)), Contains("may be truncated"));
  CHECK_THAT(refusal("perftest", row + " 8388608    5000             23561.4"),
             Contains("sample:22") && Contains("has 3 columns"));
  CHECK_THAT(refusal("perftest", edited(whole, "BW average[MB/sec]", "BW average[MB/min]")),
             Contains("unknown column: '[MB/min]"));
  CHECK_THAT(refusal("perftest", edited(whole, "23560.98", "23560,98")),
             Contains("no number in column 'BW average'"));
  CHECK_THAT(refusal("perftest", "{\n\"test_info\": {\n"), Contains("does not state the unit"));
  CHECK_THAT(refusal("perftest", whole.substr(whole.find(" #bytes"))), Contains("without a title"));
}

}  // namespace
}  // namespace bench
