#include "core/wire.h"

#include "core/error.h"
#include "tests/core/samples_for_tests.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

namespace {

const Record kOutcome{"job", "host", 0, 1, Outcome{Status::ok, "", 1.0}};

}  // namespace

TEST_CASE("the checksum is the CRC-32 everybody uses") {
  CHECK(checksum("123456789") == 0xcbf43926u);
  CHECK(checksum("") == 0);
}

TEST_CASE("a record of every kind survives the wire as one line") {
  for (const Record& record : one_of_each_kind()) {
    const std::string line = frame(record);
    CHECK(line.starts_with(kWireMarker));
    CHECK(line.find('\n') == line.size() - 1);
    const auto back = unframe(line);
    REQUIRE(back);
    CHECK(to_json(*back) == to_json(record));
  }
}

TEST_CASE("a line without the marker is talk") {
  for (const char* line : {"", "\n", "warning: something", "{\"job\":1}", "#bench", "# bench1 0"})
    CHECK_FALSE(unframe(line));
}

TEST_CASE("a record behind talk without a newline is not lost") {
  const auto record = unframe("progress: 50 %" + frame(kOutcome));
  REQUIRE(record);
  CHECK(std::get<Outcome>(record->body).seconds == 1.0);
}

TEST_CASE("any changed byte of a record is found") {
  const std::string line = frame(kOutcome);
  for (std::size_t i = kWireMarker.size(); i + 1 < line.size(); ++i)
    for (const int bit : {0, 3, 6}) {
      std::string damaged = line;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      // The one change that means the same: the case of a hexadecimal digit is no part of its
      // value.
      if (i < kWireMarker.size() + 8 && std::tolower(damaged[i]) == std::tolower(line[i])) continue;
      INFO(damaged);
      CHECK_THROWS_AS(unframe(damaged), Error);
    }
}

TEST_CASE("a record that was cut anywhere is found") {
  const std::string line = frame(kOutcome);
  for (std::size_t size = kWireMarker.size(); size + 1 < line.size(); ++size)
    CHECK_THROWS_AS(unframe(line.substr(0, size)), Error);
}

TEST_CASE("two records on one line are garbage, not one record") {
  std::string line = frame(kOutcome);
  line.pop_back();
  CHECK_THROWS_WITH(unframe(line + frame(kOutcome)), Contains("damaged record: checksum is"));
}

TEST_CASE("a right checksum over a wrong record is refused") {
  const std::string json = R"({"schema_version": 1})";
  char line[64];
  std::snprintf(line, sizeof line, "#bench1 %08x %s", static_cast<unsigned>(checksum(json)),
                json.c_str());
  CHECK_THROWS_WITH(unframe(line), Contains("'kind' is missing"));
}

TEST_CASE("a damaged line is shown short and printable") {
  try {
    unframe("#bench1 \x1b[2J" + std::string(1000, 'x'));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("damaged record: no checksum") && Contains("\\x1b"));
    CHECK(std::string(error.what()).size() < 200);
  }
}

TEST_CASE("a record too long for a line is refused when written") {
  Record record = kOutcome;
  record.body = Facts{"host", {{"text", std::string(kMaxLineBytes, 'x')}}};
  CHECK_THROWS_WITH(frame(record), Contains("does not fit into a line"));
}
