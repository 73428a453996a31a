// The handshake line of a rank; anything else is rejected.
#include "devices/tcp/meeting.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

std::string reason(const std::string& line) {
  const auto read = parse_handshake(line);
  const auto* none = std::get_if<BadHandshake>(&read);
  return none == nullptr ? "" : none->reason;
}

std::string without_newline(const std::string& line) {
  REQUIRE(line.ends_with('\n'));
  return line.substr(0, line.size() - 1);
}

}  // namespace

TEST_CASE("a handshake round-trips, also without a token") {
  for (const char* token : {"", "slurm-17.0"}) {
    const RankHandshake handshake{"0.1.0+1a2b3c4", 4, 2, token, "node03"};
    const auto read = parse_handshake(without_newline(handshake_line(handshake)));
    REQUIRE(std::holds_alternative<RankHandshake>(read));
    CHECK(std::get<RankHandshake>(read) == handshake);
  }
}

TEST_CASE("a name with blanks or of any length stays one word of a short line") {
  const std::string line = handshake_line({"1.0", 2, 1, std::string(5000, 't'), "a host\n"});
  CHECK(line.size() < kMaxHandshake);
  CHECK_THAT(line, Contains(" a?host?\n"));
}

TEST_CASE("foreign connections are distinguished from ranks of another version") {
  CHECK_THAT(reason("GET / HTTP/1.1"), Contains("not a benchctl rank"));
  CHECK_THAT(reason(""), Contains("not a benchctl rank"));
  CHECK_THAT(reason(std::string(kMaxHandshake, '#')), Contains("not a benchctl rank"));
  const auto newer = parse_handshake("#benchgroup 2 whatever comes then");
  CHECK_FALSE(std::get<BadHandshake>(newer).foreign);
  CHECK_THAT(std::get<BadHandshake>(newer).reason, Contains("handshake version 2"));
}

TEST_CASE("a malformed handshake is rejected") {
  for (const char* line :
       {"#benchgroup 1", "#benchgroup 1 1.0 4 2 t", "#benchgroup 1 1.0 4 2 t h more",
        "#benchgroup 1 1.0 four 2 t h", "#benchgroup 1 1.0 4 -1 t h", "#benchgroup 1 1.0 4 2  h",
        "#benchgroup 1 1.0 4 99999999999999999999 t h", "#benchgroup 1 1.0 4 2 t h\x01",
        "#benchgroup 1 1.0 4 2.5 t h"})
    CHECK_THAT(reason(line), Contains("malformed"));
}

TEST_CASE("an answer accepts or refuses with a reason; anything else is not from rank 0") {
  CHECK(parse_answer(without_newline(answer_line(""))).ours);
  CHECK(parse_answer(without_newline(answer_line(""))).refusal.empty());
  const Answer no = parse_answer(without_newline(answer_line("rank 1\nis missing")));
  CHECK(no.ours);
  CHECK_THAT(no.refusal, Contains("is missing") && !Contains("\n"));
  CHECK(answer_line(std::string(5000, 'x')).size() <= kMaxHandshake);
  for (const char* line :
       {"", "SSH-2.0-OpenSSH_9.2", "#benchgroup", "#benchgroup no", "#benchgroup no "})
    CHECK_FALSE(parse_answer(line).ours);
}

TEST_CASE("a token is right when every character is") {
  CHECK(same_token("abc", "abc"));
  CHECK(same_token("", ""));
  for (const char* other : {"", "ab", "abd", "abcd", "ABC"}) CHECK_FALSE(same_token("abc", other));
}
