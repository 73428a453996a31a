#include "core/mllog.h"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

// As mlperf_logging 4.1 printed it.
const std::string kOfficial =
    R"(:::MLLOG {"namespace": "", "time_ms": 1759858994891, "event_type": "POINT_IN_TIME", )"
    R"("key": "eval_accuracy", "value": 3.3125, "metadata": {"file": "train.py", "lineno": 3, )"
    R"("samples_count": 12288}})";

MllogLine evaluation() {
  return {"",
          1759858994891,
          MllogEvent::point_in_time,
          "eval_accuracy",
          3.3125,
          {{"samples_count", 12288}, {"lineno", 3}, {"file", "train.py"}}};
}

MllogLine accepted(const std::string& text) {
  const MllogParse parsed = parse_mllog(text);
  INFO(text);
  REQUIRE(parsed.trouble == "");
  REQUIRE(parsed.line);
  return *parsed.line;
}

std::string trouble(const std::string& text) {
  const MllogParse parsed = parse_mllog(text);
  CHECK_FALSE(parsed.line);
  return parsed.trouble;
}

std::string with_value(const std::string& value) {
  return R"(:::MLLOG {"namespace": "", "time_ms": 5, "event_type": "INTERVAL_END", "key": "k", )"
         R"("value": )" +
         value + R"(, "metadata": {}})";
}

}  // namespace

TEST_CASE("an MLLOG line is written byte for byte as mlperf_logging writes it") {
  CHECK(to_text(evaluation()) == kOfficial);
}

TEST_CASE("text in an MLLOG line is ASCII, and numbers that are not finite are Python's") {
  MllogLine line = evaluation();
  line.value = {std::nan(""), INFINITY, -INFINITY, "\u00e4\n\"", true, nullptr, 1e-5, 2.0};
  line.metadata = Json::object();
  CHECK_THAT(
      to_text(line),
      Contains(
          R"("value": [NaN, Infinity, -Infinity, "\u00e4\n\"", true, null, 1e-05, 2.0], "metadata": {}})"));
}

TEST_CASE("a written MLLOG line is read back unchanged") {
  const MllogLine line = accepted(kOfficial);
  CHECK(line.name_space.empty());
  CHECK(line.time_ms == 1759858994891);
  CHECK(line.event == MllogEvent::point_in_time);
  CHECK(line.key == "eval_accuracy");
  CHECK(line.value == 3.3125);
  CHECK(line.metadata.at("samples_count") == 12288);
  CHECK(to_text(line) == kOfficial);
}

TEST_CASE("a token inside a string does not cut a written MLLOG line") {
  MllogLine line = evaluation();
  line.value = "see :::MLLOG {} and ::::MLLOG ";
  CHECK(accepted(to_text(line)).value == line.value);
}

TEST_CASE("text without the token is no MLLOG line") {
  for (const char* text : {"", "epoch 3", ":::MLLOG", ":::MLLOG{}", "::MLLOG {}"}) {
    CHECK_FALSE(parse_mllog(text).line);
    CHECK(parse_mllog(text).trouble.empty());
  }
}

TEST_CASE("text before the last token is not part of an MLLOG line") {
  for (const std::string before :
       {"0: ", "  8: ", "\xef\xbb\xbf", "12%|#  | 3/9\r",
        " 0: h:6:7 [0] NCCL INFO Channel 16/0 : 8[0] -> 0[", ":::MLLOG {\"time_ms\": 1, \"ke"})
    CHECK(to_text(accepted(before + kOfficial)) == kOfficial);
}

TEST_CASE("an MLLOG line ends at CR, at LF and at both") {
  for (const std::string end : {"\n", "\r", "\r\n", "  \r\n", "\rstep 4\rstep 5\n"})
    CHECK(to_text(accepted(kOfficial + end)) == kOfficial);
}

TEST_CASE("non-finite numbers are read as Python writes them, but not inside strings") {
  CHECK(std::isnan(accepted(with_value("NaN")).value.get<double>()));
  const Json values = accepted(with_value(R"(["NaN", Infinity, -Infinity, "\" NaN", NaN])")).value;
  CHECK(values[0] == "NaN");
  CHECK(values[1].get<double>() == std::numeric_limits<double>::infinity());
  CHECK(values[2].get<double>() == -std::numeric_limits<double>::infinity());
  CHECK(values[3] == "\" NaN");
  CHECK(std::isnan(values[4].get<double>()));
  for (const char* wrong : {"-NaN", "NaNs", "1NaN", "infinity", "nan", "{NaN: 1}"})
    CHECK_FALSE(trouble(with_value(wrong)).empty());
}

TEST_CASE("a record stores non-finite numbers as strings") {
  MllogLine line = evaluation();
  line.value = {{"loss", std::nan("")}, {"all", {INFINITY, 1.5}}};
  const Json kept = parse_json(dump(to_json(line)), "test");
  CHECK(kept.at("value").at("loss") == "NaN");
  CHECK(kept.at("value").at("all") == Json{"Infinity", 1.5});
  CHECK(kept.at("event_type") == "POINT_IN_TIME");
  CHECK(kept.at("time_ms") == 1759858994891);
}

TEST_CASE("the last value of a duplicate key in an MLLOG line counts, as in Python") {
  CHECK(accepted(with_value(R"({"a": 1, "a": 2}, "key": "other")")).value.at("a") == 2);
  CHECK(accepted(with_value(R"(1, "key": "other")")).key == "other");
}

TEST_CASE("all missing fields of an MLLOG line are named") {
  CHECK_THAT(trouble(R"(:::MLLOG {"key": "run_stop", "metadata": {}})"),
             Contains("missing: time_ms, event_type, value"));
  CHECK_THAT(trouble(":::MLLOG {}"), Contains("time_ms, event_type, key, value, metadata"));
  CHECK(accepted(with_value("null")).value.is_null());
}

TEST_CASE("the time of an MLLOG line may be a float or a text of a number, but nothing else") {
  const auto at = [](const std::string& time) {
    return R"(:::MLLOG {"time_ms": )" + time +
           R"(, "event_type": "POINT_IN_TIME", "key": "k", "value": 1, "metadata": {}})";
  };
  CHECK(accepted(at("1759858994891.6")).time_ms == 1759858994892);
  CHECK(accepted(at("\"1759858994891\"")).time_ms == 1759858994891);
  for (const char* wrong : {"\"1.2.3\"", "null", "NaN", "1e300", "[]", "\"\"", "true"})
    CHECK_THAT(trouble(at(wrong)), Contains("which is not a time"));
}

TEST_CASE("a damaged MLLOG line is reported with the reason and the text") {
  CHECK_THAT(trouble(kOfficial.substr(0, 80)), Contains("not valid JSON") && Contains("time_ms"));
  CHECK_THAT(trouble(kOfficial + kOfficial.substr(9)), Contains("not valid JSON"));
  CHECK_THAT(trouble(":::MLLOG [1]"), Contains("[1] is not a JSON object"));
  CHECK_THAT(trouble(with_value("1e999")), Contains("1e999"));
  CHECK_THAT(trouble(":::MLLOG \x1b[2J"), Contains("\\x1b"));
  CHECK_THAT(trouble(with_value(std::string(100, '[') + std::string(100, ']'))),
             Contains("nested deeper"));
  std::string event = kOfficial;
  event.replace(event.find("POINT"), 5, "COUNT");
  CHECK_THAT(trouble(event), Contains("COUNT_IN_TIME"));
}

TEST_CASE("bytes of an MLLOG line that are not UTF-8 are read as Latin-1") {
  CHECK(accepted(with_value("\"caf\xe9\"")).value == "caf\u00e9");
  CHECK(accepted(with_value("\"caf\u00e9\"")).value == "caf\u00e9");
}

TEST_CASE("lines that several write to one MLLOG file stay whole") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "log.txt";
  std::ofstream(path) << "before\n";
  const auto write = [&](int number) {
    MllogFile file(path);
    MllogLine line = evaluation();
    line.value = std::string(20'000, static_cast<char>('a' + number));
    for (int i = 0; i < 50; ++i) file.write(line);
  };
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) writers.emplace_back(write, i);
  for (std::thread& writer : writers) writer.join();
  std::ifstream in(path);
  std::string text;
  std::getline(in, text);
  CHECK(text == "before");
  int count = 0;
  for (; std::getline(in, text); ++count) {
    const std::string value = accepted(text).value;
    REQUIRE(value == std::string(20'000, value[0]));
  }
  CHECK(count == 200);
}

TEST_CASE("an MLLOG file that cannot be opened or written is an error that names it") {
  CHECK_THROWS_WITH(MllogFile("/nowhere/log.txt"), Contains("/nowhere/log.txt"));
  MllogFile full("/dev/full");
  CHECK_THROWS_WITH(full.write(evaluation()), Contains("/dev/full"));
}

TEST_CASE("a partially written MLLOG line is an error, and the next line is intact") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "log.txt";
  rlimit former{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &former) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, former.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  MllogFile file(path);
  std::string what;
  try {
    file.write(evaluation());
  } catch (const Error& error) {
    what = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &former);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(what, Contains("only 100 of the") && Contains("log.txt"));
  file.write(evaluation());
  CHECK(read_file(path) == kOfficial.substr(0, 100) + "\n" + kOfficial + "\n");
}
