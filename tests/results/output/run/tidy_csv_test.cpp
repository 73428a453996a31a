#include "results/output/run/tidy_csv.h"

#include <sstream>

#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

RunSummary run_of(const std::string& id, const Json& params, const Json& labels) {
  RunFixture run(id);
  run.job("a", "gemm", "gemm").add("a", samples("throughput", 2.0, 20, params)).outcome("a");
  RunSummary summary = make_run_summary(run.end().records());
  summary.labels = labels;
  return summary;
}

/// Rows of cells; no cell of these tests has a comma.
std::vector<std::vector<std::string>> cells(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    line.pop_back();  // the carriage return
    std::istringstream words(line + ",");
    for (std::string cell; std::getline(words, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

std::string at(const std::vector<std::vector<std::string>>& rows, std::size_t row,
               const std::string& column) {
  const auto found = std::ranges::find(rows[0], column);
  return found == rows[0].end() ? "no such column"
                                : rows[row][static_cast<std::size_t>(found - rows[0].begin())];
}

}  // namespace

TEST_CASE("a tidy table has a column for each parameter and label of any run") {
  const auto rows =
      cells(to_tidy_csv({run_of("one", {{"m", 512}, {"dtype", "f32"}}, {{"kernel", "old"}}),
                         run_of("two", {{"m", 64}, {"isa", "=avx2"}}, {{"site", "x"}})}));
  REQUIRE(rows.size() == 3);
  CHECK(rows[1].size() == rows[0].size());
  CHECK(at(rows, 1, "run") == "one");
  CHECK(at(rows, 1, "metric") == "gemm.throughput");
  CHECK(at(rows, 1, "value") == "2");
  CHECK(at(rows, 1, "param.m") == "512");
  CHECK(at(rows, 1, "param.dtype") == "f32");
  CHECK(at(rows, 1, "param.isa") == "");
  CHECK(at(rows, 1, "label.kernel") == "old");
  CHECK(at(rows, 1, "label.site") == "");
  CHECK(at(rows, 2, "param.m") == "64");
  CHECK(at(rows, 2, "label.site") == "x");
  // What a spreadsheet would take for a formula is a text.
  CHECK(at(rows, 2, "param.isa") == R"("'=avx2")");
}

TEST_CASE("a tidy table of no run is its header") {
  const auto rows = cells(to_tidy_csv({}));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].front() == "run");
}
