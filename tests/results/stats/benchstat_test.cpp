// benchstat's own inputs, and what it prints of them: medians, intervals and p-values. Skipped
// where they are not at hand.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/rank_tests.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

const std::filesystem::path kBenchstat = "../shared/data/statistics/benchstat";

using Benchmarks = std::map<std::string, std::vector<double>>;

/// "BenchmarkX-8  3000000  43.6 ns/op  343.87 MB/s": the value before `unit` of each line.
Benchmarks benchmarks(const std::string& file, const std::string& unit) {
  Benchmarks found;
  std::ifstream in(kBenchstat / file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("Benchmark")) continue;
    std::istringstream words(line);
    std::string name, word, before;
    words >> name;
    name = name.substr(9);
    for (; words >> word; before = word)
      if (word == unit) found[name].push_back(std::stod(before));
  }
  return found;
}

/// A row of benchstat's table of two files.
struct Row {
  std::string name;
  double old_median, new_median;  // in the unit of the file
  double old_half, new_half;      // per cent
  std::string change;             // "-4.62%" or "~"
  double p;
};

/// "46.55n" in seconds to nanoseconds, "307.3Mi" of bytes to megabytes.
double in_unit_of_file(const std::string& text) {
  std::size_t end = 0;
  const double value = std::stod(text, &end);
  const std::string prefix = text.substr(end);
  if (prefix == "n") return value;
  if (prefix == "µ") return value * 1e3;
  if (prefix == "Mi") return value * 1048576e-6;
  return prefix == "Gi" ? value * 1073741824e-6 : std::nan("");
}

std::vector<Row> rows_between(const std::string& file, const std::string& from,
                              const std::string& to) {
  std::vector<Row> rows;
  std::ifstream in(kBenchstat / file);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.find(from) != std::string::npos) inside = true;
    if (!to.empty() && line.find(to) != std::string::npos) inside = false;
    if (!inside || !line.starts_with("CRC32/")) continue;
    std::istringstream words(line);
    std::vector<std::string> cells;
    for (std::string cell; words >> cell;) cells.push_back(cell);
    if (cells.size() != 10) continue;
    rows.push_back({cells[0], in_unit_of_file(cells[1]), in_unit_of_file(cells[4]),
                    std::stod(cells[3]), std::stod(cells[6]), cells[7],
                    std::stod(cells[8].substr(3))});
  }
  return rows;
}

double half_percent(const std::vector<double>& values) {
  const auto interval = median_interval(values);
  const double centre = median(values);
  return 100.0 * std::max(interval->high - centre, centre - interval->low) / centre;
}

/// `printed` has four digits.
bool same_digits(double value, double printed) {
  return std::abs(value - printed) <= 0.6e-3 * printed;
}

void check_rows(const std::vector<Row>& rows, const Benchmarks& before, const Benchmarks& after) {
  for (const Row& row : rows) {
    INFO(row.name);
    const auto &a = before.at(row.name), &b = after.at(row.name);
    CHECK(same_digits(median(a), row.old_median));
    CHECK(same_digits(median(b), row.new_median));
    CHECK(std::round(half_percent(a)) == row.old_half);
    CHECK(std::round(half_percent(b)) == row.new_half);
    const double p = mann_whitney(a, b).p;
    CHECK(std::abs(p - row.p) <= 0.00051);
    CHECK((p < 0.05) == (row.change != "~"));
    if (row.change != "~")
      CHECK(100.0 * (median(b) / median(a) - 1.0) == Approx(std::stod(row.change)).margin(0.0051));
  }
}

}  // namespace

TEST_CASE("benchstat's inputs give its medians, intervals and p-values") {
  if (!std::filesystem::exists(kBenchstat)) {
    WARN("skipped: " << kBenchstat << " is not here");
    return;
  }
  const auto times = rows_between("crcIgnore.stdout", "sec/op", "B/s");
  const auto rates = rows_between("crcIgnore.stdout", "B/s", "");
  REQUIRE(times.size() == 36);
  REQUIRE(rates.size() == 36);
  check_rows(times, benchmarks("crc-old.txt", "ns/op"), benchmarks("crc-new.txt", "ns/op"));
  check_rows(rates, benchmarks("crc-old.txt", "MB/s"), benchmarks("crc-new.txt", "MB/s"));
}

TEST_CASE("benchstat's small and equal samples: no unsupported results") {
  CHECK(mann_whitney(std::vector<double>(6, 100.0), std::vector<double>(6, 100.0)).p == 1.0);
  CHECK(mann_whitney(std::vector<double>{100.0}, std::vector<double>{101.0}).p == 1.0);
  CHECK_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
}
