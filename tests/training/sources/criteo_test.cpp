#include "training/sources/criteo.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/training/training_files.h"

namespace bench::training {
namespace {

/// A line whose first integer and first word are given.
std::string line_of(const std::string& label, const std::string& integer, const std::string& word) {
  std::string line = label + "\t" + integer;
  for (int i = 1; i < 13; ++i) line += "\t" + std::to_string(i);
  line += "\t" + word;
  for (int i = 1; i < 26; ++i) line += "\t0000000" + std::string(1, "0123456789abcdef"[i % 16]);
  return line;
}

std::string line_refusal(const std::string& line) {
  try {
    read_criteo_line(line);
    return "accepted";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    CHECK_FALSE(error.hint().empty());
    return error.what();
  }
}

struct Read {
  std::vector<float> dense = std::vector<float>(13);
  std::vector<std::int32_t> ids = std::vector<std::int32_t>(26);
  float label = 0;
};

Read read_sample(const ClickSource& source, std::uint64_t index) {
  Read made;
  ClickSample sample{.dense = made.dense, .ids = made.ids};
  source.read(Split::train, index, sample);
  made.label = sample.label;
  return made;
}

TEST_CASE("a Criteo line is read with empty fields") {
  const CriteoLine line = read_criteo_line(line_of("1", "-2", "68fd1e64"));
  CHECK(line.click);
  CHECK(line.integers[0] == -2);
  CHECK(line.integers[12] == 12);
  CHECK(line.words[0] == 0x68fd1e64);
  CHECK(line.words[25] == 9);
  const CriteoLine empty = read_criteo_line("0" + std::string(39, '\t'));
  CHECK_FALSE(empty.click);
  CHECK(empty.integers[0] == std::nullopt);
  CHECK(empty.words[25] == std::nullopt);
}

TEST_CASE("a malformed Criteo line is refused with the field and its value") {
  CHECK(line_refusal(line_of("1", "2", "3")) == "accepted");
  CHECK(line_refusal("") == "1 fields, expected 40");
  CHECK(line_refusal(line_of("1", "2", "3") + "\t") == "41 fields, expected 40");
  CHECK(line_refusal(line_of("2", "2", "3")) == "the label is '2'");
  CHECK(line_refusal(line_of("", "2", "3")) == "the label is ''");
  CHECK(line_refusal(line_of("1", "2x", "3")) == "field 2 of 40 is '2x'");
  CHECK(line_refusal(line_of("1", " 2", "3")) == "field 2 of 40 is ' 2'");
  CHECK(line_refusal(line_of("1", "99999999999999999999", "3")) ==
        "field 2 of 40 is '99999999999999999999'");
  CHECK(line_refusal(line_of("1", "2", "123456789")) == "field 15 of 40 is '123456789'");
  CHECK(line_refusal(line_of("1", "2", "-1")) == "field 15 of 40 is '-1'");
}

TEST_CASE("lines are read in order, and an error names file and line") {
  const std::string text =
      line_of("0", "7", "a") + "\r\n" + line_of("1", "8", "b") + "\n" + line_of("1", "x", "c");
  CriteoReader reader(text, "day_0");
  CHECK(reader.next()->integers[0] == 7);
  CHECK(reader.next()->words[0] == 0xb);
  CHECK_THROWS_WITH(reader.next(), "day_0, line 3: field 2 of 40 is 'x'");
  CHECK(reader.next() == std::nullopt);
}

TEST_CASE("samples of a Criteo file can be read by number in any order") {
  const TemporaryDirectory folder;
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += line_of(i % 3 == 0 ? "1" : "0", std::to_string(i - 10), "000001f4") + "\n";
  const auto path = write_file(folder.path() / "train.txt", text);
  const CriteoFiles files(path, "", std::vector<std::int64_t>(26, 7));
  CHECK(files.size(Split::train) == 300);
  CHECK(files.size(Split::evaluation) == 0);
  for (const std::uint64_t index : {299u, 0u, 63u, 64u, 65u, 127u, 128u, 299u}) {
    const Read sample = read_sample(files, index);
    CHECK(sample.label == (index % 3 == 0 ? 1 : 0));
    const double integer = std::max(static_cast<double>(index) - 10, 0.0);
    CHECK(sample.dense[0] == Approx(std::log1p(integer)));
    CHECK(sample.ids[0] == 0x1f4 % 7);
  }
  CHECK_THROWS_WITH(read_sample(files, 300), "sample 300 is out of range: the file has 300");
  CHECK_THROWS_AS(CriteoFiles(path, "", std::vector<std::int64_t>(25, 7)), Error);
  CHECK_THROWS_AS(CriteoFiles(path, "", std::vector<std::int64_t>(26, 0)), Error);
}

TEST_CASE("a damaged line is reported with its number wherever it is") {
  const TemporaryDirectory folder;
  std::string text;
  for (int i = 0; i < 100; ++i) text += line_of(i == 80 ? "?" : "1", "1", "1") + "\n";
  const auto path = write_file(folder.path() / "train.txt", text);
  const CriteoFiles files(path, "", std::vector<std::int64_t>(26, 7));
  CHECK_NOTHROW(read_sample(files, 79));
  CHECK_THROWS_WITH(read_sample(files, 80), path + ", line 81: the label is '?'");
}

}  // namespace
}  // namespace bench::training
