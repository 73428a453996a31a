#include "probes/data/formats/criteo_rows.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "probes/data/generate/writers.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "training/sources/criteo.h"
#include "training/sources/mapped_file.h"

namespace bench::data {
namespace {

const std::string kPath = "clicks";

CriteoRow slow_row(const training::CriteoLine& line) {
  CriteoRow row;
  row.label = line.click ? 1 : 0;
  for (std::size_t i = 0; i < 13; ++i)
    row.integers[i] = static_cast<std::int32_t>(line.integers[i].value_or(0));
  for (std::size_t i = 0; i < 26; ++i) row.words[i] = line.words[i].value_or(0);
  return row;
}

std::string line_of(const std::string& label, const std::string& integer, const std::string& word) {
  std::string line = label;
  for (int i = 0; i < 13; ++i) line += "\t" + integer;
  for (int i = 0; i < 26; ++i) line += "\t" + word;
  return line + "\n";
}

std::vector<CriteoRow> read_all(const std::string& text) {
  std::vector<CriteoRow> rows(100);
  rows.resize(CriteoRowReader(text, kPath, 1).read(rows));
  return rows;
}

TEST_CASE("generated click logs are the same rows as text and as binary") {
  TemporaryDirectory folder;
  DataSetWish wish;
  wish.format = Format::criteo_tsv;
  wish.bytes = 2'000'000;
  const Written text = write_criteo_text(folder.path(), wish);
  wish.bytes = text.samples * sizeof(CriteoRow);
  REQUIRE(write_criteo_binary(folder.path(), wish).samples == text.samples);
  const training::MappedFile lines(folder.path() / "clicks.tsv"),
      rows(folder.path() / "clicks.bin");
  const std::string_view all(reinterpret_cast<const char*>(lines.bytes().data()),
                             lines.bytes().size());
  std::vector<CriteoRow> read(text.samples);
  REQUIRE(CriteoRowReader(all, kPath, 1).read(read) == text.samples);
  CHECK(std::memcmp(read.data(), rows.bytes().data(), rows.bytes().size()) == 0);
  training::CriteoReader slow(all, kPath);
  for (const CriteoRow& row : read) REQUIRE((row == slow_row(slow.next().value())));
}

TEST_CASE("the fast path gives the same rows as the full parser") {
  const std::string rest = line_of("0", "1", "00000001");  // short cuts need bytes to look at
  for (const std::string integer : {"", "0", "7", "1234567", "12345678", "-3", "2147483647"})
    for (const std::string word : {"", "0", "abc", "89abcdef", "89ABCDEF", "fffFFFff"}) {
      const std::string line = line_of("1", integer, word);
      const auto rows = read_all(line + rest);
      REQUIRE(rows.size() == 2);
      INFO(integer << " " << word);
      CHECK((rows[0] == slow_row(training::read_criteo_line(line.substr(0, line.size() - 1)))));
    }
  CHECK(read_all(line_of("1", "99999999999", "0") + rest)[0].integers[0] == 2147483647);
}

TEST_CASE("a damaged line is refused with file and line, on the fast path as well") {
  const std::string good = line_of("0", "1", "00000001");
  for (const std::string& bad : {line_of("2", "1", "00000001"), line_of("0", "1x", "00000001"),
                                 line_of("0", "1", "0000000g"), line_of("0", "1", "100000001"),
                                 line_of("0", "1", "0000:000"),
                                 line_of("0", "1",
                                         "\x10"
                                         "0000000"),
                                 std::string("0\t1\n")}) {
    for (const std::string& rest : {std::string(), good}) {
      INFO(bad);
      CHECK_THROWS_AS(read_all(good + bad + rest), Error);
      try {
        read_all(good + bad + rest);
      } catch (const Error& error) {
        CHECK(std::string(error.what()).starts_with("clicks, line 2: "));
      }
    }
  }
}

TEST_CASE("the transform takes logarithms of counts and keeps categories inside their tables") {
  CriteoRow row;
  row.integers = {0, 1, -5, 4095, 4096, 1'000'000};
  row.words = {5, 0xffffffff};
  transform_criteo({&row, 1}, 1000);
  const auto value = [&](std::size_t i) { return std::bit_cast<float>(row.integers.at(i)); };
  CHECK(value(0) == 0.0f);
  CHECK(value(1) == Approx(std::log(2.0)));
  CHECK(value(2) == 0.0f);
  CHECK(value(3) == Approx(std::log(4096.0)));
  CHECK(value(4) == Approx(std::log(4097.0)));
  CHECK(value(5) == Approx(std::log(1'000'001.0)));
  CHECK(row.words[0] == 5);
  CHECK(row.words[1] == 0xffffffff % 1000);
}

}  // namespace
}  // namespace bench::data
