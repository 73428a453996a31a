// The line by which a rank is known; what is none is turned away.
#include "probes/backends/tcp/greeting.h"

#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

std::string reason(const std::string& line) {
  const auto read = read_greeting(line);
  const auto* none = std::get_if<NoGreeting>(&read);
  return none == nullptr ? "" : none->reason;
}

std::string without_newline(const std::string& line) {
  REQUIRE(line.ends_with('\n'));
  return line.substr(0, line.size() - 1);
}

}  // namespace

TEST_CASE("a greeting is read as it was written, also without a token") {
  for (const char* token : {"", "slurm-17.0"}) {
    const Greeting greeting{"0.1.0+1a2b3c4", 4, 2, token, "node03"};
    const auto read = read_greeting(without_newline(greeting_line(greeting)));
    REQUIRE(std::holds_alternative<Greeting>(read));
    CHECK(std::get<Greeting>(read) == greeting);
  }
}

TEST_CASE("a name with blanks or of any length stays one word of a short line") {
  const std::string line = greeting_line({"1.0", 2, 1, std::string(5000, 't'), "a host\n"});
  CHECK(line.size() < kMostGreeting);
  CHECK_THAT(line, Contains(" a?host?\n"));
}

TEST_CASE("strangers are told from ranks of another make") {
  CHECK_THAT(reason("GET / HTTP/1.1"), Contains("not a benchctl rank"));
  CHECK_THAT(reason(""), Contains("not a benchctl rank"));
  CHECK_THAT(reason(std::string(kMostGreeting, '#')), Contains("not a benchctl rank"));
  const auto newer = read_greeting("#benchgroup 2 whatever comes then");
  CHECK_FALSE(std::get<NoGreeting>(newer).stranger);
  CHECK_THAT(std::get<NoGreeting>(newer).reason, Contains("handshake version 2"));
}

TEST_CASE("a damaged greeting is none") {
  for (const char* line :
       {"#benchgroup 1", "#benchgroup 1 1.0 4 2 t", "#benchgroup 1 1.0 4 2 t h more",
        "#benchgroup 1 1.0 four 2 t h", "#benchgroup 1 1.0 4 -1 t h", "#benchgroup 1 1.0 4 2  h",
        "#benchgroup 1 1.0 4 99999999999999999999 t h", "#benchgroup 1 1.0 4 2 t h\x01",
        "#benchgroup 1 1.0 4 2.5 t h"})
    CHECK_THAT(reason(line), Contains("damaged"));
}

TEST_CASE("an answer lets in or says why not; whatever else answers is no rank 0") {
  CHECK(read_answer(without_newline(answer_line(""))).ours);
  CHECK(read_answer(without_newline(answer_line(""))).refusal.empty());
  const Answer no = read_answer(without_newline(answer_line("rank 1\nis missing")));
  CHECK(no.ours);
  CHECK_THAT(no.refusal, Contains("is missing") && !Contains("\n"));
  CHECK(answer_line(std::string(5000, 'x')).size() <= kMostGreeting);
  for (const char* line :
       {"", "SSH-2.0-OpenSSH_9.2", "#benchgroup", "#benchgroup no", "#benchgroup no "})
    CHECK_FALSE(read_answer(line).ours);
}

TEST_CASE("a token is right when every character is") {
  CHECK(same_token("abc", "abc"));
  CHECK(same_token("", ""));
  for (const char* other : {"", "ab", "abd", "abcd", "ABC"}) CHECK_FALSE(same_token("abc", other));
}
