#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("NCCL Inspector: calls of one size on one communicator are samples") {
  const CollectedImport sink = imported("nccl-inspector", "nccl-inspector/gpu07-pid4321.log");
  const auto first = sink.of("latency", {{"op", "all_reduce"}, {"communicator", 0}});
  REQUIRE(first.size() == 1);
  REQUIRE(first[0].samples.values.size() == 2);
  CHECK(first[0].samples.values[1] == Approx(4035e-6));
  CHECK(first[0].samples.params["size_bytes"] == 1073741824);
  CHECK(first[0].samples.params["timing"] == "kernel_gpu");
  CHECK(first[0].job.rank == 2);
  CHECK(first[0].job.ranks == 8);
  CHECK(first[0].job.hosts == std::vector<std::string>{"gpu07"});
  CHECK(first[0].job.time_ns == 1795199405000000000);
  CHECK(sink.of("busbw", {{"op", "all_reduce"}, {"communicator", 0}})[0].samples.values[0] ==
        Approx(1073741824 / 4021e-6 * 1.75));
  CHECK(sink.of("latency", {{"communicator", "dp"}}).size() == 1);
}

TEST_CASE("NCCL Inspector: transfers name their peer, a time of 0 is no measurement") {
  const CollectedImport sink = imported("nccl-inspector", "nccl-inspector/gpu07-pid4321.log");
  CHECK(sink.value("busbw", {{"op", "send"}, {"peer", 3}}) == Approx(39.568906e9));
  CHECK(sink.of("latency", {{"op", "broadcast"}}).empty());
  CHECK(has_part(sink.all(), "skipped 1 operations with a time of 0 us"));
}

TEST_CASE("truncated or unknown lines of NCCL Inspector are refused with their line") {
  const std::string whole = import_sample("nccl-inspector/gpu07-pid4321.log");
  CHECK_THAT(refusal("nccl-inspector", whole.substr(0, whole.size() - 9)), Contains("sample:5"));
  CHECK_THAT(refusal("nccl-inspector", whole.substr(0, whole.size() - 1)),
             Contains("may be truncated"));
  CHECK_THAT(refusal("nccl-inspector", edited(whole, "v4.0", "v5.0")),
             Contains("sample:1") && Contains("v5.0"));
  CHECK_THAT(refusal("nccl-inspector", edited(whole, "AllReduce", "AllSing")), Contains("AllSing"));
  CHECK_THAT(refusal("nccl-inspector", edited(whole, ":4021,", ":-1,")),
             Contains("coll_exec_time_us"));
  CHECK_THAT(refusal("nccl-inspector", edited(whole, "coll_perf", "coll_work")),
             Contains("p2p_perf"));
  CHECK_THAT(refusal("nccl-inspector", ""), Contains("no NCCL Inspector results found"));
}

}  // namespace
}  // namespace bench
