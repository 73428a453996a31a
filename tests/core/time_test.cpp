#include "core/time.h"

#include "core/error.h"
#include "core/text.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("a moment is written in UTC and read back") {
  CHECK(format_time(0) == "1970-01-01T00:00:00Z");
  CHECK(format_time(1'795'199'405'000'000'000) == "2026-11-20T18:30:05Z");
  CHECK(parse_time("2026-11-20T18:30:05Z") == 1'795'199'405'000'000'000);
  CHECK(format_time(-1) == "1969-12-31T23:59:59Z");
  CHECK(format_time(parse_time("2024-02-29T00:00:00Z")) == "2024-02-29T00:00:00Z");
}

TEST_CASE("RFC 3339 offsets and fractions are understood") {
  const auto moment = parse_time("2026-11-20T18:30:05Z");
  CHECK(parse_time("2026-11-20T20:30:05+02:00") == moment);
  CHECK(parse_time("2026-11-20T12:00:05-06:30") == moment);
  CHECK(parse_time("2026-11-20T18:30:05.25Z") == moment + 250'000'000);
  CHECK(parse_time("2026-11-20T18:30:05.1234567891Z") == moment + 123'456'789);
}

TEST_CASE("an invalid time is refused and shown") {
  for (const char* text :
       {"", "yesterday", "2026-11-20", "2026-11-20T18:30:05", "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T18:60:00Z",
        "2026-11-20T18:30:05Zx", "2026-11-20T18:30:05.Z", "9999-01-01T00:00:00Z",
        "0001-01-01T00:00:00Z", "-026-11-20T18:30:05Z", "2026-11-20T18:30:05+2:00"})
    CHECK_THROWS_AS(parse_time(text), Error);
  CHECK_THROWS_WITH(parse_time("20\x1b"), Catch::Contains("'20\\x1b' is not a valid time"));
}

TEST_CASE("the ends of the 64-bit range can be written") {
  CHECK(format_time(INT64_MAX) == "2262-04-11T23:47:16Z");
  CHECK(format_time(INT64_MIN) == "1677-09-21T00:12:43Z");
}
