#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

const Json kLargest = {{"size_bytes", 8589934592}, {"placement", "out_of_place"}};

TEST_CASE("current nccl-tests: sizes, both placements, hosts, ranks and versions") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/2025.txt");
  CHECK(sink.value("latency", kLargest) == Approx(20299e-6));
  CHECK(sink.value("busbw", kLargest) == Approx(740.55e9));
  const auto one = sink.of("busbw", kLargest).at(0);
  CHECK(one.job.tool == "nccl_tests");
  CHECK(one.job.name == "all_reduce");
  CHECK(one.job.hosts == std::vector<std::string>{"gpu01", "gpu02"});
  CHECK(one.job.ranks == 8);
  CHECK(one.samples.params["dtype"] == "f32");
  CHECK(one.samples.params["redop"] == "sum");
  CHECK_FALSE(one.samples.params.contains("root"));
  CHECK(one.samples.check->passed());
  CHECK(sink.facts_.at(0).facts["libraries"]["nccl"] == "22907");
}

TEST_CASE("a bus bandwidth of 0.00 from nccl-tests is skipped, its latency is kept") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/2025.txt");
  CHECK(sink.of("busbw", {{"size_bytes", 8}}).empty());
  CHECK(sink.of("latency", {{"size_bytes", 8}}).size() == 2);
}

TEST_CASE("nccl-tests of 2021 has an error column, and its collective must be named") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/2021.txt", "all_reduce");
  CHECK(sink.value("latency", {{"size_bytes", 4194304}, {"placement", "in_place"}}) ==
        Approx(110.2e-6));
  CHECK(sink.of("latency", {{"size_bytes", 0}}).empty());
  CHECK_FALSE(sink.entries.front().samples.check);  // a deviation is no count of wrong elements
  CHECK_THAT(refusal("nccl-tests", import_sample("nccl-tests/2021.txt")),
             Contains("without naming the collective"));
}

TEST_CASE(
    "nccl-tests of 2021 leaves redop blank for all-to-all, and localhost is not a host name") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/2021_alltoall.txt", "alltoall");
  CHECK(sink.value("busbw", {{"size_bytes", 1048576}, {"placement", "in_place"}}) ==
        Approx(8.84e9));
  CHECK_FALSE(sink.entries.front().samples.params.contains("redop"));
  CHECK(sink.entries.front().job.hosts.empty());
  CHECK(sink.entries.front().job.ranks == 4);
}

TEST_CASE("nccl-tests of 2017 counts in milliseconds") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/2017.txt", "all_reduce");
  CHECK(sink.value("latency", {{"placement", "out_of_place"}}) == Approx(3.187e-3));
  CHECK(sink.entries.front().job.hosts == std::vector<std::string>{"gpu07"});
}

TEST_CASE("columns of nccl-tests -I do not shift the others") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/per_iteration.txt");
  CHECK(sink.value("latency", kLargest) == Approx(20299e-6));
  CHECK(sink.value("latency", {{"size_bytes", 8589934592}, {"placement", "in_place"}}) ==
        Approx(20006e-6));
  CHECK_FALSE(sink.entries.front().samples.params.contains("redop"));
}

TEST_CASE(
    "rccl-tests prints the same table, also of one placement, and does not name its collective") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/rccl.txt", "all_reduce");
  CHECK(sink.value("busbw", {{"placement", "in_place"}}) == Approx(25.64e9));
  CHECK(sink.value("latency", {{"placement", "out_of_place"}}) == Approx(41.3e-6));
  CHECK(sink.entries.front().job.ranks == 2);
  CHECK(sink.facts_.at(0).facts["program"] == "rccl-tests");
  CHECK(sink.facts_.at(0).facts["version"] == "develop:ae3e635");
  CHECK_THAT(refusal("nccl-tests", import_sample("nccl-tests/rccl.txt")),
             Contains("without naming the collective"));
  const CollectedImport in_place =
      imported("nccl-tests", "nccl-tests/rccl_in_place.txt", "all_reduce");
  CHECK(in_place.value("busbw", {{"placement", "in_place"}}) == Approx(25.64e9));
  CHECK(in_place.entries.size() == 2);
}

TEST_CASE("two programs in one log are two cases; wrong elements make a result invalid") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/two_programs.txt");
  const auto alltoall = sink.of("latency", {{"op", "alltoall"}});
  REQUIRE(alltoall.size() == 2);  // a timestamp stands behind them
  CHECK(alltoall[1].samples.values[0] == Approx(60.9e-6));
  CHECK_FALSE(alltoall[1].samples.check);  // N/A: not checked
  const auto broadcast = sink.of("latency", {{"op", "broadcast"}, {"placement", "out_of_place"}});
  REQUIRE(broadcast.size() == 2);
  CHECK(broadcast[0].samples.outcome == Status::invalid);
  CHECK(broadcast[0].samples.params["root"] == 0);
  CHECK(broadcast[1].samples.outcome == Status::ok);
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].status == Status::invalid);
  CHECK(sink.ends[0].job.name == "broadcast");
}

TEST_CASE("a repeated nccl-tests table adds samples to its series") {
  const std::string once = import_sample("nccl-tests/2025.txt");
  CollectedImport sink;
  import_text("nccl-tests", once + edited(once, "20299.0", "20301.0"), sink);
  const auto found = sink.of("latency", kLargest);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].samples.values.size() == 2);
  CHECK(found[0].samples.values[0] == Approx(20299e-6));
  CHECK(found[0].samples.values[1] == Approx(20301e-6));
  CHECK(found[0].job.ranks == 8);
}

TEST_CASE("the JSON of nccl-tests: iterations after the skipped ones, null and nan") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/run.json");
  const auto iterations = sink.of("iteration_latency");
  REQUIRE(iterations.size() == 1);
  REQUIRE(iterations[0].samples.values.size() == 3);
  CHECK(iterations[0].samples.values[0] == Approx(60.6e-6));
  CHECK(iterations[0].samples.over == "max");
  const auto large = sink.of("latency", {{"size_bytes", 8589934592}});
  REQUIRE(large.size() == 1);
  CHECK(large[0].samples.params["placement"] == "in_place");
  CHECK_FALSE(large[0].samples.check);
  CHECK(large[0].job.time_ns == 1795199405000000000);
}

TEST_CASE("potential secrets in a dumped environment are dropped") {
  const CollectedImport sink = imported("nccl-tests", "nccl-tests/run.json");
  const std::string all = sink.all();
  CHECK_FALSE(has_part(all, "hunter2"));
  CHECK_FALSE(has_part(all, "/home/ada"));
  CHECK(has_part(all, "mlx5"));
  CHECK(has_part(all, "kept 3 of 10 environment variables"));
}

TEST_CASE("truncated nccl-tests output is refused at every line") {
  const std::string whole = import_sample("nccl-tests/2025.txt");
  const std::size_t end = whole.find("# Out of bounds");
  for (std::size_t at = whole.find('\n'); at < end; at = whole.find('\n', at + 1)) {
    INFO(at);
    CHECK(refusal("nccl-tests", whole.substr(0, at + 1)) != "");
  }
  const std::string json = import_sample("nccl-tests/run.json");
  for (std::size_t at = 0; at < json.size(); at += 7)
    CHECK(refusal("nccl-tests", json.substr(0, at)) != "");
}

TEST_CASE("lines that nccl-tests does not print are refused with their number") {
  const std::string whole = import_sample("nccl-tests/2025.txt");
  CHECK_THAT(refusal("nccl-tests", edited(whole, "20299.0", "2O299.0")),
             Contains("sample:21: ") && Contains("non-numeric"));
  CHECK_THAT(refusal("nccl-tests", edited(whole, "20299.0", "1e999")), Contains("non-numeric"));
  CHECK_THAT(refusal("nccl-tests", edited(whole, "20299.0", "")), Contains("columns"));
  CHECK_THAT(refusal("nccl-tests", edited(whole, "gpu02", "x;reboot")), Contains("names no host"));
  CHECK_THAT(refusal("nccl-tests", edited(whole, "# Out of", "killed by signal 9\n# Out of")),
             Contains("'killed by signal 9'"));
  CHECK_THAT(refusal("nccl-tests", edited(whole, "all_reduce_perf", "../../x")),
             Contains("names no nccl-tests program"));
  CHECK_THAT(refusal("nccl-tests", edited(whole, "20299.0", "\x1b]0;x\x07")), Contains("\\x1b"));
  CHECK_THAT(refusal("nccl-tests", "nothing\n"), Contains("no nccl-tests results"));
  CHECK_THAT(refusal("nccl-tests", edited(import_sample("nccl-tests/run.json"), "\"version\":3",
                                          "\"version\":4")),
             Contains("version"));
}

}  // namespace
}  // namespace bench
