#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("OSU bandwidth: MB are 1e6 bytes, and its validation result counts") {
  const CollectedImport sink = imported("osu", "osu/bw.txt");
  CHECK(sink.value("bandwidth", {{"size_bytes", 4194304}}) == Approx(24512.33e6));
  const auto one = sink.entries.front();
  CHECK(one.job.name == "Bandwidth");
  CHECK(one.samples.params["accelerator"] == "CUDA");
  CHECK(one.samples.params["datatype"] == "MPI_CHAR");
  CHECK(sink.facts_.at(0).facts["version"] == "7.4");
  CollectedImport failed;
  import_text("osu",
              edited(import_sample("osu/bw.txt"), "24512.33                Pass",
                     "24512.33                Fail"),
              failed);
  CHECK(failed.entries.back().samples.outcome == Status::invalid);
  CHECK(failed.entries.front().samples.outcome == Status::ok);
}

TEST_CASE("OSU collectives: mean, min and max latency are separate metrics") {
  const CollectedImport sink = imported("osu", "osu/allreduce.txt");
  CHECK(sink.value("latency", {{"size_bytes", 1048576}}) == Approx(412.2e-6));
  CHECK(sink.value("latency_min", {{"size_bytes", 1048576}}) == Approx(398.1e-6));
  CHECK(sink.value("latency_max", {{"size_bytes", 1048576}}) == Approx(430.7e-6));
  CHECK(sink.of("latency")[0].samples.over == "mean");
  CHECK(sink.entries.size() == 6);
}

TEST_CASE("OSU tests without a size, of many pairs, and non-blocking ones") {
  CHECK(imported("osu", "osu/barrier.txt").value("latency") == Approx(2.41e-6));
  const CollectedImport pairs = imported("osu", "osu/mbw_mr.txt");
  CHECK(pairs.value("message_rate", {{"size_bytes", 65536}, {"pairs", 4}}) == Approx(733991.0));
  const CollectedImport overlap = imported("osu", "osu/iallreduce.txt");
  CHECK(overlap.value("overlap") == Approx(0.0115));
  CHECK(overlap.value("latency_p99") == Approx(9.04e-6));
  CHECK(overlap.of("").empty());
}

TEST_CASE("truncated, mixed or unknown OSU output is refused") {
  const std::string whole = import_sample("osu/allreduce.txt");
  CHECK_THAT(refusal("osu", whole.substr(0, whole.size() - 1)), Contains("may be truncated"));
  CHECK_THAT(refusal("osu", edited(whole, "Max Latency(us)", "Max Jitter(us) ")),
             Contains("known columns"));
  CHECK_THAT(refusal("osu", edited(whole, "412.20", "412.20 1")), Contains("has 6 columns"));
  CHECK_THAT(refusal("osu", whole + "mpirun noticed that process rank 1 exited\n"),
             Contains("mpirun noticed"));
  CHECK_THAT(refusal("osu", "4194304        24512.33\n"),
             Contains("no OSU micro-benchmark results"));
  CHECK_THAT(refusal("osu", edited(import_sample("osu/bw.txt"), "24512.33", "1e305")),
             Contains("overflows in its base unit"));
}

TEST_CASE("nvbandwidth: cells of its matrices, not their sum; its failed test failed") {
  const CollectedImport sink = imported("nvbandwidth", "nvbandwidth/run.txt");
  CHECK(sink.value("bandwidth", {{"test", "host_to_device_memcpy_ce"}, {"column", "1"}}) ==
        Approx(55.61e9));
  CHECK(sink.value("bandwidth", {{"row", "1"}, {"column", "0"}}) == Approx(386.40e9));
  CHECK(sink.value("latency", {{"column", "0"}}) == Approx(772.58e-9));
  CHECK(sink.entries.size() == 6);  // neither N/A nor the 0.00 of the diagonal
  CHECK(sink.entries.front().job.hosts == std::vector<std::string>{"gpu07"});
  CHECK(sink.entries.front().job.device == "cuda");
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].status == Status::failed);
  CHECK(has_part(sink.ends[0].reason, "out of memory"));
  CHECK(sink.facts_.at(0).facts["libraries"]["driver"] == "570.86.15");
}

TEST_CASE("JSON and text of nvbandwidth agree") {
  const CollectedImport text = imported("nvbandwidth", "nvbandwidth/run.txt");
  const CollectedImport json = imported("nvbandwidth", "nvbandwidth/run.json");
  for (const auto& entry : json.entries)
    CHECK(entry.samples.values[0] == Approx(text.value("bandwidth", entry.samples.params)));
  CHECK(json.entries.size() == 4);
  CHECK(json.entries.front().job.hosts == std::vector<std::string>{"gpu07"});
  CHECK(has_part(json.all(), "out of memory"));
}

TEST_CASE("the reason of a failed nvbandwidth test is found where nvbandwidth puts it") {
  const auto failure = [](const CollectedImport& sink) {
    REQUIRE(sink.ends.size() == 1);
    CHECK(sink.ends[0].job.name == "all_to_one_read_sm");
    return sink.ends[0].reason;
  };
  // It is listed twice, as running and with its error.
  CHECK(failure(imported("nvbandwidth", "nvbandwidth/run.json")) ==
        "nvbandwidth: Error: out of memory");
  // At the end of the document, when a call failed and ended nvbandwidth.
  CHECK_THAT(failure(imported("nvbandwidth", "nvbandwidth/aborted.json")),
             Contains("Running: [CUDA_ERROR_OUT_OF_MEMORY] out of memory in expression"));
  // On stderr, without a word before it.
  CollectedImport text;
  import_text("nvbandwidth",
              edited(import_sample("nvbandwidth/run.txt"), "Error: [CUDA_ERROR", "[CUDA_ERROR"),
              text);
  CHECK_THAT(failure(text), Contains("nvbandwidth: [CUDA_ERROR_OUT_OF_MEMORY] out of memory"));
  // Also when nothing else ran.
  CollectedImport alone;
  import_text("nvbandwidth", "Running all_to_one_read_sm.\nError: no memory\n", alone);
  CHECK(failure(alone) == "nvbandwidth: Error: no memory");
}

TEST_CASE("truncated or unknown nvbandwidth output is refused") {
  const std::string whole = import_sample("nvbandwidth/run.txt");
  for (const char* end : {"SUM host_to_device", " 1    386.40", "SUM device_to_device_memcpy"})
    CHECK_THAT(refusal("nvbandwidth", whole.substr(0, whole.find(end))),
               Contains("did not end with a SUM"));
  CHECK_THAT(refusal("nvbandwidth", edited(whole, "(GB/s)", "(furlongs)")),
             Contains("without a known unit"));
  CHECK_THAT(refusal("nvbandwidth", edited(whole, "55.61", "55,61")), Contains("non-numeric"));
  CHECK_THAT(refusal("nvbandwidth", edited(whole, "SUM host_to_device_memcpy_ce", "SUM x")),
             Contains("does not end"));
  CHECK_THAT(
      refusal("nvbandwidth", edited(import_sample("nvbandwidth/run.json"), "\"55.61\"", "55.61")),
      Contains("numbers as strings"));
}

TEST_CASE("BabelStream: the same in MB and in GB, and in its csv") {
  const Json triad = {{"kernel", "Triad"}, {"precision", "double"}};
  const CollectedImport sink = imported("babelstream", "babelstream/run.txt");
  CHECK(sink.value("best_bandwidth", triad) == Approx(2969911.7e6));
  CHECK(sink.value("mean_time", triad) == Approx(0.00028));
  CHECK(sink.entries.front().job.name == "CUDA");
  CHECK(sink.entries.front().job.device == "cuda");
  const CollectedImport gb = imported("babelstream", "babelstream/gigabytes.txt");
  CHECK(gb.value("best_bandwidth", triad) == Approx(2969911.7e6).epsilon(1e-6));
  const CollectedImport csv = imported("babelstream", "babelstream/run.csv");
  CHECK(csv.value("best_bandwidth", triad) == Approx(2.96991e12));
  CHECK(csv.value("shortest_time", {{"kernel", "Copy"}, {"array_bytes", 268435456.0}}) ==
        Approx(0.000182938));
}

TEST_CASE("a BabelStream whose validation failed is invalid; a broken table is refused") {
  const std::string whole = import_sample("babelstream/run.txt");
  CollectedImport sink;
  import_text("babelstream", "Validation failed on a[]. Average error 1.2\n" + whole, sink);
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].status == Status::invalid);
  CHECK_THAT(refusal("babelstream", whole.substr(0, whole.size() - 9)),
             Contains("may be truncated"));
  CHECK_THAT(refusal("babelstream", edited(whole, "Triad   ", "Triangle")),
             Contains("not a known BabelStream kernel"));
  CHECK_THAT(
      refusal("babelstream", edited(whole, "Function    MBytes/sec", "Function    Mbits/sec ")),
      Contains("not a known BabelStream header"));
  CHECK_THAT(
      refusal("babelstream", edited(import_sample("babelstream/run.csv"), "_mbytes_", "_m_")),
      Contains("no known unit"));
}

TEST_CASE("fio: bytes per second, latencies in seconds, jobs of one name form one series") {
  const CollectedImport sink = imported("fio", "fio/mixed.json");
  const auto read = sink.of("bandwidth", {{"direction", "read"}});
  REQUIRE(read.size() == 1);
  CHECK(read[0].samples.values == std::vector<double>{348743777, 348000000});
  CHECK(read[0].samples.params["rw"] == "randrw");
  CHECK(read[0].samples.params["iodepth"] == "64");
  CHECK(sink.value("latency", {{"direction", "write"}}) == Approx(1560749.4e-9));
  CHECK(sink.value("latency_p99", {{"direction", "read"}}) == Approx(1446562.1e-9 * 1.6));
  CHECK(sink.of("bandwidth", {{"direction", "trim"}}).empty());
  CHECK(read[0].job.time_ns == 1795286405123000000);
  REQUIRE(sink.ends.size() == 1);
  CHECK(has_part(sink.ends[0].reason, "error 28"));
  CHECK_FALSE(has_part(sink.all(), "hunter2"));  // an option of fio's global ones
}

TEST_CASE("truncated fio JSON, or invalid values, are refused") {
  const std::string whole = import_sample("fio/mixed.json");
  for (std::size_t at = 0; at < whole.size() - 3; at += 97)
    CHECK(refusal("fio", whole.substr(0, at)) != "");
  CHECK_THAT(refusal("fio", edited(whole, "348743777", "\"fast\"")), Contains("bw_bytes"));
  CHECK_THAT(refusal("fio", edited(whole, "85138.890741", "-1")), Contains("iops"));
}

}  // namespace
}  // namespace bench
