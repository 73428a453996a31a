#include "mlperf/log/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <random>
#include <utility>

#include "core/error.h"
#include "core/whole_file.h"
#include "mlperf/log/log_line.h"
#include "tests/mlperf/log_lines.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

/// The result for a line with this body: "parse_error", "crash", or "none".
std::string line_error(const std::string& body) {
  const Log log = read_log_text(":::MLLOG " + body + "\n", "x");
  INFO(body);
  CHECK(log.mllog_lines == 1);
  CHECK(log.entries.size() + log.invalid_lines.size() <= 1);
  if (log.invalid_lines.empty()) return "none";
  CHECK_FALSE(log.invalid_lines[0].text.empty());
  return log.invalid_lines[0].kind == LineError::crash ? "crash" : "parse_error";
}

}  // namespace

TEST_CASE("lines that differ in numbers are as valid as each other") {
  const std::string line = R"({"key": "tracked_stats", "a": -1.5e3, "b": [0, 12], "c": "x7.5"})";
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = line;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const auto& [from, to] : {std::pair{"-1.5e3", "7"},
                                 {"-1.5e3", "0.25E-10"},
                                 {"12", "120"},
                                 {"12", "-0"},
                                 {"0, 12", "3, 4"},
                                 {"7.5", "0"},
                                 {"12", "12"}})
    CHECK(differ_in_numbers(line, with(from, to)));
  for (const auto& [from, to] : {std::pair{"-1.5e3", "--1"},
                                 {"-1.5e3", "1."},
                                 {"-1.5e3", ".5"},
                                 {"-1.5e3", "1e"},
                                 {"-1.5e3", "true"},
                                 {"12", "012"},
                                 {"12", "1 2"},
                                 {"12", ""},
                                 {"12]", "12"},
                                 {"12]", "12]]"},
                                 {"12", "1234567890123456789012345678901"},
                                 {"12", "\\"},
                                 {"x7.5", "y7.5"},
                                 {"x7.5", "x7.5.5"},
                                 {"tracked", "tracke9"},
                                 {"}", "} "},
                                 {"}", ""},
                                 {"12", "12e"},
                                 {"0,", "00,"},
                                 {"12", "1_2"}})
    CHECK_FALSE(differ_in_numbers(line, with(from, to)));
  CHECK_FALSE(differ_in_numbers(R"({"time_ms": "1_1"})", R"({"time_ms": "1_-1"})"));
  CHECK_FALSE(differ_in_numbers(R"({"time_ms": "1e1_5"})", R"({"time_ms": "1e1.0_5"})"));
}

TEST_CASE("digits of an escape sequence are no number") {
  const auto line = [](const std::string& text) {
    return R"(:::MLLOG {"key": "tracked_stats", "time_ms": 1, "value": ")" + text +
           R"(", "metadata": {}})" + "\n";
  };
  const Log log = read_log_text(line(R"(\u1234)") + line(R"(\u1)"), "x");
  CHECK(log.mllog_lines == 2);
  REQUIRE(log.invalid_lines.size() == 1);
  CHECK(log.invalid_lines[0].line == 2);
}

TEST_CASE("a line is read as if no line stood before it") {
  // What the reader knows of the last line that it skipped must not hide an error, or an entry.
  const std::string time = GENERATE(as<std::string>(), "17", "\"1_7\"", "\" 1.5e1 \"");
  const std::string skipped = R"({"key": "tracked_stats", "time_ms": )" + time +
                              R"(, "value": {"a": 2.5e-3, "b": [1, -0, 33]}, "metadata": )"
                              R"({"file": "x1.py", "lineno": 12}})";
  const std::string_view pieces[] = {"0",  "1",    "12",  "-",   ".", "e",    "+",
                                     "\"", "\\",   ",",   "{",   "}", "[",    "]",
                                     " ",  "seed", "5.0", "1e5", ":", "null", "_"};
  std::mt19937_64 random(7);
  const auto any = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  std::size_t valid = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string line = skipped;
    for (std::size_t change = 0; change <= any(3); ++change)
      line.replace(any(line.size()), any(3), pieces[any(std::size(pieces))]);
    const Log alone = read_log_text(":::MLLOG " + line + "\n", "x");
    const Log after = read_log_text(":::MLLOG " + skipped + "\n:::MLLOG " + line + "\n", "x");
    INFO(line);
    REQUIRE(after.entries.size() == alone.entries.size());
    REQUIRE(after.invalid_lines.size() == alone.invalid_lines.size());
    if (!alone.invalid_lines.empty()) {
      REQUIRE(after.invalid_lines[0].text == alone.invalid_lines[0].text);
      REQUIRE(after.invalid_lines[0].kind == alone.invalid_lines[0].kind);
    }
    valid += alone.invalid_lines.empty() ? 1 : 0;
  }
  CHECK(valid > 500);
  CHECK(valid < 9'500);
}

TEST_CASE("a log line has its position in the file and its index among MLLOG lines") {
  const Log log = read_log_text("talk\r\n 0: " + log_line("run_start") + "\r\ntalk :::MLLOG\n" +
                                    log_line("run_stop", "null", R"({"status": "success"})"),
                                "x");
  REQUIRE(log.entries.size() == 2);
  CHECK(log.entries[0].line == 2);
  CHECK(log.entries[0].column == 5);
  CHECK(log.entries[0].index == 0);
  CHECK(log.entries[1].line == 4);
  CHECK(log.entries[1].column == 1);
  CHECK(log.entries[1].index == 1);
  CHECK(log.entries[1].key == "run_stop");
  CHECK(log.entries[1].event_type == "POINT_IN_TIME");
  CHECK(log.entries[1].metadata.find("status")->text() == "success");
  CHECK(log.entries[1].text == log_line("run_stop", "null", R"({"status": "success"})"));
  CHECK(log.lines == 4);
  CHECK(log.mllog_lines == 2);
}

TEST_CASE("CR ends a line for the official reader, but not for line numbers") {
  const Log log = read_log_text(
      "1%\r50%\r99%\r" + log_line("run_start") + "\r" + log_line("run_stop") + "\nend\n", "x");
  REQUIRE(log.entries.size() == 2);
  CHECK(log.entries[0].line == 1);
  CHECK(log.entries[1].line == 1);
  CHECK(log.entries[1].column == 13 + static_cast<std::int64_t>(log_line("run_start").size()));
  CHECK(log.lines == 2);
}

TEST_CASE("in a file without LF, lines are counted by CR") {
  const Log log = read_log_text("a\r" + log_line("run_start") + "\r" + log_line("run_stop"), "x");
  REQUIRE(log.entries.size() == 2);
  CHECK(log.entries[0].line == 2);
  CHECK(log.entries[1].line == 3);
  CHECK(log.entries[1].column == 1);
  CHECK(log.lines == 3);
}

TEST_CASE("a line split by a CR is invalid") {
  CHECK(line_error("{\"time_ms\": 1, \"key\":\r \"a\", \"value\": 1, \"metadata\": {}}") ==
        "parse_error");
}

TEST_CASE("text before the last token of a line is ignored") {
  const Log log =
      read_log_text("NCCL 0[:::MLLOG {\"bad\" :::MLLOG :::MLLOG x" + log_line("seed", "1"), "x");
  REQUIRE(log.entries.size() == 1);
  CHECK(log.invalid_lines.empty());
  CHECK(log.entries[0].column == 43);
}

TEST_CASE("an invalid line is a failure or a crash, as in the official checker") {
  const std::string rest = R"("key": "a", "value": 1, "metadata": {}})";
  CHECK(line_error(R"({"time_ms": 1, )" + rest) == "none");
  CHECK(line_error(R"({"time_ms": "1_000.5", )" + rest) == "none");
  CHECK(line_error(R"({"time_ms": true, )" + rest) == "none");
  CHECK(line_error(R"({"time_ms": NaN, )" + rest) == "none");
  CHECK(line_error(R"({"time_ms": "1.2.3", )" + rest) == "parse_error");
  CHECK(line_error(R"({"time_ms": null, )" + rest) == "crash");
  CHECK(line_error(R"({"time_ms": [1], )" + rest) == "crash");
  CHECK(line_error(R"({"time_ms": 1)" + std::string(400, '0') + ", " + rest) == "crash");
  CHECK(line_error("{" + rest) == "crash");
  CHECK(line_error(R"({"time_ms": 1, "value": 1, "metadata": {}})") == "crash");
  CHECK(line_error(R"({"time_ms": 1, "key": "a", "metadata": {}})") == "crash");
  CHECK(line_error(R"({"time_ms": 1, "key": "a", "value": 1})") == "crash");
  CHECK(line_error(R"({"time_ms": "x"})") == "parse_error");  // time_ms is checked first
  CHECK(line_error("[1]") == "crash");
  CHECK(line_error("\"text\"") == "crash");
  CHECK(line_error("7") == "crash");
  CHECK(line_error("null") == "parse_error");
  CHECK(line_error("") == "parse_error");
  CHECK(line_error("  \x1c\x85\xa0") == "parse_error");
  CHECK(line_error(R"({"time_ms": 1, )" + rest + " \v\x1f\xa0") == "none");
  CHECK(line_error("\xa0"
                   R"({"time_ms": 1, )" +
                   rest) == "parse_error");
  CHECK(line_error(R"({"time_ms": 1, )" + rest + " x") == "parse_error");
  CHECK(line_error("{'time_ms': 1}") == "parse_error");
  CHECK(line_error(std::string(1'000'000, '[')) == "crash");
}

TEST_CASE("metadata may have any type, and a non-string key matches no rule") {
  CHECK(line_error(R"({"time_ms": 1, "key": "a", "value": 1, "metadata": null})") == "none");
  const Log log = read_log_text(
      log_line("a") + "\n:::MLLOG " + R"({"time_ms": 1, "key": ["a"], "value": 1, "metadata": {}})",
      "x");
  CHECK(log.entries.size() == 1);
  CHECK(log.mllog_lines == 2);
}

TEST_CASE("unused lines are skipped, but their errors are reported") {
  const std::string stats = R"("value": {"a": [1, NaN]}, "metadata": {"step": 3})";
  CHECK(line_error(R"({"key": "tracked_stats", "time_ms": 1, )" + stats + "}") == "none");
  const Log log =
      read_log_text(":::MLLOG {\"key\": \"tracked_stats\", \"time_ms\": 1, " + stats + "}\n" +
                        ":::MLLOG {\"key\": \"tracked_stats\", \"time_ms\": 1, " + stats +
                        ", \"key\": \"seed\"}\n" + log_line("run_stop"),
                    "x");
  CHECK(log.mllog_lines == 3);
  REQUIRE(log.entries.size() == 2);  // the second line ends up with the key seed
  CHECK(log.entries[0].key == "seed");
  CHECK(log.entries[0].value.repr() == "{'a': [1, nan]}");
  CHECK(log.entries[0].metadata.repr() == "{'step': 3}");
  CHECK(log.entries[1].index == 2);
  CHECK(
      line_error(R"({"key": "tracked_stats", "time_ms": 1, "value": {"a": 01}, "metadata": {}})") ==
      "parse_error");
  CHECK(line_error(R"({"key": "tracked_stats", "time_ms": 1, "value": 1})") == "crash");
}

TEST_CASE("the last of duplicate fields counts") {
  const Log log = read_log_text(
      R"(:::MLLOG {"time_ms": 1, "key": "a", "value": 1, "metadata": {}, "value": 2, "key": "b"})",
      "x");
  REQUIRE(log.entries.size() == 1);
  CHECK(log.entries[0].key == "b");
  CHECK(log.entries[0].value.repr() == "2");
}

TEST_CASE("logs that are empty, without a token or without a final line end are read") {
  CHECK(read_log_text("", "x").lines == 0);
  CHECK(read_log_text("", "x").mllog_lines == 0);
  CHECK(read_log_text("{\"key\": 1}\n", "x").lines == 1);
  CHECK(read_log_text(":::MLLOG", "x").mllog_lines == 0);
  CHECK(read_log_text(":::MLLOG ", "x").invalid_lines.size() == 1);
}

TEST_CASE("vectorised counting of line breaks equals counting one by one") {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += i % 7 == 0 || i % 11 == 3 ? '\n' : 'a';
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{32},
                                 std::size_t{8160}, std::size_t{8161}, text.size()})
    CHECK(count_bytes(text.substr(0, size), '\n') ==
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
  CHECK(count_bytes(std::string(100'000, '\n'), '\n') == 100'000);
}

TEST_CASE("a digest is the XXH64 of the bytes") {
  CHECK(digest_of("") == 0xEF46DB3751D8E999);
  CHECK(digest_of("a") == 0xD24EC4F1A98C6E5B);
  CHECK(digest_of("abc") == 0x44BC2CF5AD770999);
  std::string text;
  for (int i = 0; i < 101; ++i) text += static_cast<char>('0' + i % 10);
  CHECK(digest_of(text) != digest_of(text.substr(1)));
  CHECK(read_log_text(text, "x").digest == digest_of(text));
}

TEST_CASE("a log is read from a file or a pipe, and a folder is rejected") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "result_0.txt";
  replace_file(path, log_line("run_start") + "\n");
  const Log log = read_log(path);
  REQUIRE(log.entries.size() == 1);
  CHECK(log.entries[0].text == log_line("run_start"));
  CHECK(log.path == path);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string text = log_line("run_start") + "\n";
  REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  CHECK(read_log("/dev/fd/" + std::to_string(ends[0])).digest == log.digest);
  ::close(ends[0]);
  CHECK_THROWS_AS(read_log(folder.path()), Error);
  CHECK_THROWS_AS(read_log(folder.path() / "none"), Error);
}

TEST_CASE("logs are read concurrently, each once; a missing log is an error") {
  const TemporaryDirectory folder;
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < 20; ++i) {
    paths.push_back(folder.path() / ("result_" + std::to_string(i) + ".txt"));
    replace_file(paths.back(), log_line("seed", std::to_string(i)));
  }
  std::vector<std::atomic<int>> seen(20);
  read_logs(paths, [&](std::size_t index, const Log& log) {
    if (log.entries.at(0).value.integer() == static_cast<std::int64_t>(index)) ++seen[index];
  });
  for (const auto& times : seen) CHECK(times == 1);
  paths.push_back(folder.path() / "none");
  CHECK_THROWS_AS(read_logs(paths, [](std::size_t, const Log&) {}), Error);
}

}  // namespace bench::mlperf
