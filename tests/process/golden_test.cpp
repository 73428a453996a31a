// A real product on the host, kept as golden, met again, and met when it is wrong.
#include <fstream>

#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Json report_of(const Answer& answer) { return parse_json(answer.out, "report"); }

/// A product by one library. Left to itself, gemm takes the library that was faster this time, and
/// another one's bits are another golden value. "" if this build has no library.
std::string gemm_suite(const BenchctlFolder& bench) {
  const auto path = bench.folder.path() / "products.json";
  Json params = {{"dtypes", {"f64"}}, {"shapes", {{64, 64, 64}}}, {"threads", {1}}};
  const auto write = [&] {
    std::ofstream(path) << Json{
        {"suite", "products"},
        {"measure", {{"max_time_s", 0.05}, {"min_time_s", 0}, {"warm_up_max_s", 0.01}}},
        {"cases", {{{"name", "small"}, {"probe", "gemm"}, {"params", params}}}}};
  };
  write();
  const BenchctlFolder trial;
  const Json report = report_of(trial.run({"run", path.string(), "--json"}));
  if (report["hashes"]["results"] == 0) return "";
  params["library"] = report["results"][0]["params"]["library"];
  write();
  return path.string();
}

}  // namespace

TEST_CASE("a run's bits become golden values, later runs agree, and a wrong one is invalid") {
  const BenchctlFolder bench;
  const std::string suite = gemm_suite(bench);
  if (suite.empty()) return;
  const Json first = report_of(bench.run({"run", suite, "--json"}));
  const auto kept = first["hashes"]["results"].get<int>();
  CHECK(first["hashes"]["golden"] == 0);
  CHECK_FALSE(first["hashes"]["without_golden"].empty());

  const Answer golden = bench.run({"golden", "latest", "--keep"});
  if (!golden.exit.clean()) {
    CHECK_THAT(golden.err, Contains("no result can serve as a golden value"));  // an unnamed CPU
    return;
  }
  CHECK_THAT(golden.out, Contains("stored in"));
  const Answer second = bench.run({"run", suite, "--json"});
  CHECK(bench.measured(second));
  CHECK(report_of(second)["hashes"]["golden"] == kept);
  CHECK(report_of(second)["hashes"]["without_golden"].empty());

  const auto file = std::filesystem::directory_iterator(bench.folder.path() / "golden")->path();
  Json wrong = read_json(file);
  wrong["values"][0]["hash"] = "0123456789abcdef";
  std::ofstream(file) << wrong;
  const Answer third = bench.run({"run", suite});
  CHECK(third.exit.text() == "exit code 1");
  CHECK_THAT(third.out, Contains("0123456789abcdef") && Contains("differ from the golden value"));
}

TEST_CASE("golden values that contradict stored ones are refused and not stored") {
  const BenchctlFolder bench;
  const std::string suite = gemm_suite(bench);
  if (suite.empty()) return;
  bench.run({"run", suite});
  if (!bench.run({"golden", "--keep"}).exit.clean()) return;
  const auto folder = bench.folder.path() / "golden";
  const auto file = std::filesystem::directory_iterator(folder)->path();
  Json other = read_json(file);
  other["values"][0]["hash"] = "0123456789abcdef";
  const std::string kept = read_file(file);
  std::ofstream(folder / "other.json") << other;
  // Kept already, and contradicted since: what stands there stays.
  CHECK(bench.run({"golden", "--keep"}).exit.text() == "exit code 2");
  CHECK(read_file(file) == kept);
  std::filesystem::remove(file);
  const Answer answer = bench.run({"golden", "--keep"});
  CHECK(answer.exit.text() == "exit code 2");
  CHECK_THAT(answer.err, Contains("contradicting golden values for one result"));
  CHECK_FALSE(std::filesystem::exists(file));
}
