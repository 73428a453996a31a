#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("HPL: time and throughput of each row, checked by its residual") {
  const CollectedImport sink = imported("hpl", "hpl/HPL.out");
  CHECK(sink.value("throughput", {{"n", 40000}}) == Approx(526.61e9));
  CHECK(sink.value("time", {{"n", 20000}, {"nb", 192}, {"p", 2}, {"q", 4}}) == Approx(11.52));
  const auto one = sink.entries.front();
  CHECK(one.job.ranks == 8);
  CHECK(one.samples.params["variant"] == "WR11C2R4");
  REQUIRE(one.samples.check);
  CHECK(one.samples.check->error == Approx(2.431e-3));
  CHECK(one.samples.check->tolerance == 16.0);
  CHECK(sink.facts_.at(0).facts["version"] == "2.3");
  CHECK(sink.ends.empty());
}

TEST_CASE("HPL: a failed residual makes its row invalid") {
  const CollectedImport sink = imported("hpl", "hpl/failed.out");
  for (const auto& entry : sink.entries)
    CHECK(entry.samples.outcome ==
          (entry.samples.params["n"] == 40000 ? Status::invalid : Status::ok));
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].status == Status::invalid);
  CollectedImport nan;
  import_text("hpl", edited(import_sample("hpl/failed.out"), "4.20000000e+03", "           nan"),
              nan);
  CHECK(nan.of("throughput", {{"n", 40000}}).at(0).samples.outcome == Status::invalid);
}

TEST_CASE("HPL without checks is imported unchecked; NVIDIA's has Gflops per GPU") {
  const CollectedImport unchecked = imported("hpl", "hpl/unchecked.out");
  CHECK(unchecked.of("throughput").size() == 2);
  CHECK_FALSE(unchecked.entries.front().samples.check);
  CHECK(unchecked.ends.empty());
  const CollectedImport gpu = imported("hpl", "hpl/per_gpu.txt");
  CHECK(gpu.value("throughput") == Approx(39.83e12));
  CHECK(gpu.facts_.at(0).facts["program"] == "HPL-NVIDIA");
}

TEST_CASE("HPL: a test whose solver failed is invalid") {
  const std::string whole = import_sample("hpl/HPL.out");
  const std::size_t residual = whole.rfind("||Ax-b||_oo/(eps");
  std::string text = whole.substr(0, residual) +
                     "HPL ERROR from process # 0, on line 320 of function HPL_pdtest:\n"
                     ">>> Error code returned by solve is 7, skip <<<\n\n" +
                     whole.substr(whole.find('\n', residual) + 1);
  text = edited(text, "0 tests skipped", "1 tests skipped");
  CollectedImport sink;
  import_text("hpl", text, sink);
  CHECK(sink.of("throughput", {{"n", 40000}}).at(0).samples.outcome == Status::invalid);
  CHECK(has_part(sink.all(), "Error code returned by solve is 7"));
}

TEST_CASE("truncated or unknown HPL output is refused") {
  const std::string whole = import_sample("hpl/HPL.out");
  CHECK_THAT(refusal("hpl", whole.substr(0, whole.find("End of Tests"))),
             Contains("'End of Tests.'"));
  const std::size_t residual = whole.rfind("||Ax-b||_oo/(eps");
  CHECK_THAT(
      refusal("hpl", whole.substr(0, residual) + whole.substr(whole.find('\n', residual) + 1)),
      Contains("ends 2 tests, but the file has results of 1"));
  CHECK_THAT(refusal("hpl", edited(whole, "5.2661e+02", "5.2661e+0x")), Contains("is not a row"));
  CHECK_THAT(refusal("hpl", edited(whole, "             Gflops", "             Tflops Gflops")),
             Contains("not a known HPL header"));
  CHECK_THAT(refusal("hpl", ">>> Need at least 8 processes for these tests <<<\n"),
             Contains("did not run to its end: Need at least 8 processes"));
  CHECK_THAT(refusal("hpl", "hello\n"), Contains("no HPL results found"));
}

TEST_CASE("HPCG: the rating, its kernels and the ranks") {
  const CollectedImport sink = imported("hpcg", "hpcg/HPCG-Benchmark_3.1.txt");
  CHECK(sink.value("throughput") == Approx(31.7e9));
  CHECK(sink.value("kernel_throughput", {{"kernel", "spmv"}}) == Approx(33.1e9));
  CHECK(sink.value("modelled_bandwidth", {{"nx", 208}, {"threads", 4}}) == Approx(259e9));
  CHECK(sink.entries.front().job.ranks == 8);
  CHECK(has_part(sink.all(), "HPCG ran for 61.5 s only"));
}

TEST_CASE("HPCG: an invalid result has no rating, and its kernels are invalid") {
  const CollectedImport sink = imported("hpcg", "hpcg/invalid.txt");
  CHECK(sink.of("throughput").empty());
  for (const auto& entry : sink.entries) CHECK(entry.samples.outcome == Status::invalid);
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].reason == "HPCG: the result is INVALID: Reproducibility Information");
}

TEST_CASE("truncated or unknown HPCG files are refused") {
  const std::string whole = import_sample("hpcg/HPCG-Benchmark_3.1.txt");
  CHECK_THAT(refusal("hpcg", whole.substr(0, whole.find("Final Summary::HPCG result"))),
             Contains("no 'Final Summary' states"));
  CHECK_THAT(refusal("hpcg", whole.substr(0, whole.find("execution time"))),
             Contains("not a line of KEY=VALUE"));
  CHECK_THAT(refusal("hpcg", whole.substr(0, whole.size() - 1)), Contains("may be truncated"));
  CHECK_THAT(refusal("hpcg", edited(whole, "rating of=31.7", "rating of=fast")),
             Contains("'fast', not a number"));
  CHECK_THAT(refusal("hpcg", edited(whole, "Processes=8", "Processes=many")),
             Contains("'many', not a whole number"));
  CHECK_THAT(refusal("hpcg", "HPCG-Benchmark:\n  version: 3.0\n"), Contains("first line"));
}

}  // namespace
}  // namespace bench
