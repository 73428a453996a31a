#include "mlperf/follow/follow_log.h"
#include "tests/mlperf/log_lines.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

const std::string kText = "1%\r50%\r " + log_line("run_start") + "\r\n:::MLLOG {bad\n\n" +
                          log_line("tracked_stats") + "\n 0: " + log_line("seed", "7") + "\r" +
                          log_line("run_stop");

}  // namespace

TEST_CASE("a log read in pieces equals the whole log, wherever the pieces end") {
  const Log whole = read_log_text(kText, "x");
  for (const std::size_t size : {1, 2, 3, 7, 64, 10'000}) {
    GrowingLog growing;
    for (std::size_t at = 0; at < kText.size(); at += size) growing.feed(kText.substr(at, size));
    growing.finish();
    const Log& log = growing.log();
    CHECK(log.lines == whole.lines);
    CHECK(log.bytes == whole.bytes);
    CHECK(log.mllog_lines == whole.mllog_lines);
    REQUIRE(log.invalid_lines.size() == 1);
    CHECK(log.invalid_lines[0].line == whole.invalid_lines[0].line);
    REQUIRE(log.entries.size() == whole.entries.size());
    for (std::size_t i = 0; i < log.entries.size(); ++i) {
      CHECK(log.entries[i].key == whole.entries[i].key);
      CHECK(log.entries[i].line == whole.entries[i].line);
      CHECK(log.entries[i].column == whole.entries[i].column);
      CHECK(log.entries[i].index == whole.entries[i].index);
    }
  }
}

TEST_CASE("an incomplete line does not count until its end arrives") {
  GrowingLog growing;
  growing.feed(log_line("run_start").substr(0, 60));
  CHECK(growing.torn());
  CHECK(growing.log().mllog_lines == 0);
  growing.feed(log_line("run_start").substr(60) + "\n");
  CHECK_FALSE(growing.torn());
  CHECK(growing.log().entries.size() == 1);
  CHECK(growing.log().invalid_lines.empty());
}

}  // namespace bench::mlperf
