// What a server's stream says: text, times and counts of tokens, and what is wrong with it.
#include "probes/serving/answer.h"

#include "tests/support/catch.h"

namespace bench::serving {
namespace {

/// As if each part had arrived a second after the one before.
RawAnswer streamed(const std::vector<std::string>& parts) {
  RawAnswer raw{.status = 200};
  for (const std::string& part : parts) {
    raw.body += part;
    raw.arrivals.push_back({{static_cast<double>(raw.arrivals.size() + 1)}, raw.body.size()});
  }
  return raw;
}

std::string problem_of(long status, const std::string& body) {
  return read_answer({.status = status, .body = body}).problem;
}

}  // namespace

TEST_CASE("a completion: text, counts, and when each event was complete") {
  const Answer answer = read_answer(streamed(
      {"data: {\"choices\":[{\"text\":\"one\",\"finish_reason\":null}],\"usage\":null}\n\n",
       "data: {\"choices\":[{\"text\":\" two\"", ",\"finish_reason\":null}]}\n\n",
       "data: {\"choices\":[{\"text\":\" three\",\"finish_reason\":\"length\"}]}\n\ndata: "
       "{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":4}}\n\n"
       "data: [DONE]\n\n"}));
  CHECK(answer.problem.empty());
  CHECK(answer.text == "one two three");
  REQUIRE(answer.times.size() == 3);
  CHECK(answer.times[0].value == 1.0);
  CHECK(answer.times[1].value == 3.0);  // of its second half
  CHECK(answer.times[2].value == 4.0);
  CHECK(answer.prompt_tokens == 7.0);
  CHECK(answer.tokens() == 4.0);  // the server's count: an event may hold several
  CHECK(answer.finish == "length");
}

TEST_CASE("a chat: its role is no token, its reasoning is") {
  const Answer answer = read_answer(
      streamed({"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
                "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n",
                "data: {\"choices\":[{\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}"
                "\n\ndata: [DONE]\n\n"}));
  CHECK(answer.problem.empty());
  CHECK(answer.text == "hmyes");
  REQUIRE(answer.times.size() == 2);
  CHECK(answer.times[0].value == 2.0);
  CHECK(answer.tokens() == 2.0);
  CHECK(answer.finish == "stop");
}

TEST_CASE("what does not count says why") {
  CHECK(problem_of(503, R"({"error": "overloaded"})") == "status 503: overloaded");
  CHECK(problem_of(401, R"({"error": {"message": "no key"}})") == "status 401: no key");
  CHECK(problem_of(404, R"({"detail": "Not Found"})") == "status 404: Not Found");
  CHECK(problem_of(400, R"({"object": "error", "message": "bad"})") == "status 400: bad");
  CHECK(problem_of(502, "<html>\x1b[31m") == "status 502: <html>\\x1b[31m");
  CHECK(problem_of(0, "") == "no answer");
  CHECK(read_answer({.status = 200, .problem = "timed out"}).problem == "timed out");
  CHECK(problem_of(200, "") == "an answer without text");
  CHECK(problem_of(200, "data: {oops\n\n") == "an event that is not JSON: {oops");
  CHECK(problem_of(200, "data: [1]\n\n") == "an event that is not JSON: [1]");
  CHECK(problem_of(200, "data: {\"error\":{\"message\":\"out of blocks\"}}\n\n") ==
        "out of blocks");
  CHECK(problem_of(200, "data: {\"choices\":[{\"text\":\"a\"}]}\n\n") ==
        "an answer without an end");
  CHECK(problem_of(200, "data: [DONE]\n\n") == "an answer without text");
  CHECK(problem_of(503, std::string(5000, 'x')).size() < 300);
}

TEST_CASE("an answer without usage is counted by its events") {
  const Answer answer = read_answer(
      streamed({"data: {\"choices\":[{\"text\":\"a\"}],\"usage\":{\"completion_tokens\":-1}}\n\n",
                "data: {\"choices\":[{\"text\":\"b\",\"finish_reason\":\"stop\"}]}\n\n"}));
  CHECK(answer.problem.empty());
  CHECK(answer.tokens() == 2.0);
  CHECK(std::isnan(answer.prompt_tokens));
}

}  // namespace bench::serving
