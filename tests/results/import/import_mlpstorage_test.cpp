#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("MLPerf Storage: epochs are samples, its MB and GB are powers of 1024") {
  const CollectedImport sink = imported("mlpstorage", "mlpstorage/summary.json");
  CHECK(sink.of("train_throughput").at(0).samples.values == std::vector<double>{38.1, 38.4});
  CHECK(sink.of("train_accelerator_utilization").at(0).samples.values[0] == Approx(0.952));
  CHECK(sink.value("train_bandwidth") == Approx(5347.5 * 1048576));
  CHECK(sink.entries.size() == 3);
  CHECK(sink.entries.front().job.ranks == 16);
  CHECK(sink.entries.front().job.hosts == std::vector<std::string>{"node07"});
  CHECK(sink.entries.front().job.time_ns == 1795199405000000000);
}

TEST_CASE("MLPerf Storage: a mean of nothing is skipped, a likely cache is reported") {
  const CollectedImport sink = imported("mlpstorage", "mlpstorage/checkpoint.json");
  CHECK(sink.value("save_checkpoint_bandwidth") == Approx(12.5 * 1073741824));
  CHECK(sink.value("save_checkpoint_time") == Approx(8.4));
  CHECK(sink.entries.size() == 2);
  CHECK(sink.entries.front().job.hosts.empty());  // only the first rank's is stated
  CHECK(has_part(sink.all(), "fits into the memory of a host"));
}

TEST_CASE("MLPerf Storage: accelerators that waited too long make the training invalid") {
  CollectedImport sink;
  import_text("mlpstorage",
              edited(import_sample("mlpstorage/summary.json"), "\"success\"", "\"fail\""), sink);
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].status == Status::invalid);
  for (const auto& entry : sink.entries) CHECK(entry.samples.outcome == Status::invalid);
}

TEST_CASE("truncated or unknown MLPerf Storage summaries are refused") {
  const std::string whole = import_sample("mlpstorage/summary.json");
  for (std::size_t at = 0; at < whole.size() - 1; at += 61)
    CHECK(refusal("mlpstorage", whole.substr(0, at)) != "");
  CHECK_THAT(refusal("mlpstorage", edited(whole, "train_io_mean_MB", "train_io_mean_GB")),
             Contains("unknown keys, such as 'train_io_mean_GB_per_second'"));
  CHECK_THAT(refusal("mlpstorage", edited(whole, "38.4", "\"38.4\"")), Contains("numbers >= 0"));
  CHECK_THAT(refusal("mlpstorage", edited(whole, "\"end\"", "\"stopped\"")), Contains("end"));
}

}  // namespace
}  // namespace bench
