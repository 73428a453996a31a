#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("TransferBench: transfers, executors and the whole of each test") {
  const CollectedImport sink = imported("transferbench", "transferbench/transfers.txt");
  const Json first = {{"test", 1}, {"source", "G0"}, {"destination", "G1"}};
  CHECK(sink.value("bandwidth", first) == Approx(47.102e9));
  CHECK(sink.value("time", first) == Approx(1.425e-3));
  CHECK(sink.of("bandwidth", first).at(0).samples.params["executor"] == "GPU00:008");
  CHECK(sink.value("executor_bandwidth", {{"executor", "DMA 00"}}) == Approx(51.227e9));
  CHECK(sink.value("aggregate_bandwidth", {{"test", 2}}) == Approx(48.11e9));
  CHECK(sink.of("iteration_bandwidth").at(0).samples.values ==
        std::vector<double>{46.319e9, 47.912e9});  // in order of time, not of speed
  CHECK(sink.facts_.at(0).facts["version"] == "1.52");
}

TEST_CASE("TransferBench: CSV and tables with borders have the same values") {
  const CollectedImport text = imported("transferbench", "transferbench/transfers.txt");
  const CollectedImport csv = imported("transferbench", "transferbench/transfers.csv");
  CHECK(csv.entries.size() == 8);
  for (const auto& entry : csv.entries)
    CHECK(text.value(entry.samples.metric, entry.samples.params) == entry.samples.values[0]);
  const CollectedImport borders = imported("transferbench", "transferbench/borders.txt");
  CHECK(borders.value("bandwidth", {{"source", "G0"}, {"executor", "G0:8"}}) == Approx(47.102e9));
  CHECK(borders.entries.size() == 4);
}

TEST_CASE("TransferBench p2p: cells of both matrices, not their sums") {
  const CollectedImport sink = imported("transferbench", "transferbench/p2p.txt");
  const Json cell = {{"mode", "unidirectional"}, {"row", "GPU 00"}, {"column", "GPU 01"}};
  CHECK(sink.value("bandwidth", cell) == Approx(47.31e9));
  CHECK(sink.of("bandwidth", cell).at(0).samples.params["executor"] == "GFX");
  CHECK(sink.of("bandwidth", cell).at(0).samples.params["size_bytes"] == 67108864);
  CHECK(sink.entries.size() == 21);  // 9, and 2 x 6 without the diagonal
  const CollectedImport csv = imported("transferbench", "transferbench/p2p.csv");
  CHECK(csv.entries.size() == 21);
  CHECK(csv.value("bandwidth", cell) == Approx(47.31e9));
}

TEST_CASE("TransferBench a2a: its matrix and the bandwidth over all") {
  const CollectedImport sink = imported("transferbench", "transferbench/a2a.txt");
  CHECK(sink.value("bandwidth", {{"row", "GPU 01"}, {"column", "GPU 00"}}) == Approx(44.871e9));
  CHECK(sink.value("aggregate_bandwidth") == Approx(85.31e9));
  CHECK(sink.entries.size() == 3);
}

TEST_CASE("TransferBench: transfers after a mismatch are failed, not good") {
  CollectedImport sink;
  import_text("transferbench",
              edited(import_sample("transferbench/transfers.txt"), "Test 2:\n",
                     "Test 2:\n\n[ERROR] Unexpected mismatch at index 4 of destination array 0:\n"
                     "[ERROR] SRC 00   value: 1.00000\n"),
              sink);
  REQUIRE(sink.ends.size() == 1);
  CHECK(has_part(sink.ends[0].reason, "mismatch at index 4"));
  for (const auto& entry : sink.entries)
    CHECK(entry.samples.outcome ==
          (entry.samples.params["test"] == 2 ? Status::failed : Status::ok));
}

TEST_CASE("truncated or unknown TransferBench output is refused") {
  const std::string whole = import_sample("transferbench/transfers.txt");
  CHECK_THAT(refusal("transferbench", whole.substr(0, whole.rfind(" Aggregate"))),
             Contains("'Aggregate' did not end"));
  CHECK_THAT(refusal("transferbench",
                     edited(whole, "47.102 GB/s |    1.425 ms", "47.102 GB/h |    1.425 ms")),
             Contains("no bandwidth in GB/s"));
  const std::string peers = import_sample("transferbench/p2p.txt");
  CHECK_THAT(refusal("transferbench", peers.substr(0, peers.find("  GPU 01  ->"))),
             Contains("with 2 of 3 rows"));
  CHECK_THAT(refusal("transferbench", peers.substr(0, peers.find("  GPU 01 <- "))),
             Contains("with 2 of 3 rows"));
  CHECK_THAT(refusal("transferbench", edited(peers, "54.07", "54,07x")), Contains("has 4 values"));
  const std::string all = import_sample("transferbench/a2a.txt");
  CHECK(refusal("transferbench", all.substr(0, all.find("Average "))) != "");
  CHECK_THAT(refusal("transferbench", "GPU-GFX Scaling benchmark:\nNumCUs   CPU00\n   1   12.5\n"),
             Contains("no TransferBench results found"));
}

}  // namespace
}  // namespace bench
