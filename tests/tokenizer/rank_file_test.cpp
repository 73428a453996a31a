#include "tokenizer/rank_file.h"

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/tokenizer/small_tokenizer.h"
#include "tokenizer/tokenizer.h"

namespace bench::tokenizer {
namespace {

using Catch::Matchers::Contains;

std::string ranks() { return read_file("tests/data/tokenizer/small.tiktoken"); }

TEST_CASE("a rank file gives the IDs that tiktoken gives, for each pattern") {
  if (!why_no_patterns().empty()) return;
  const Json known = known_vectors();
  for (const char* pattern : {"gpt2", "cl100k_base", "o200k_base", "llama3"}) {
    const Tokenizer tokenizer(parse_rank_file(ranks(), pattern, "small"));
    Encoder encoder(tokenizer);
    const Json& expected = known["ids"][std::string("tiktoken_") + pattern];
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto text = known["texts"][i].get<std::string>();
      INFO(pattern << ": " << text);
      const auto ids = encoder.encode(text);
      CHECK(Json(ids) == expected[i]);
      CHECK(tokenizer.decode(ids) == text);
    }
  }
}

TEST_CASE("a rank file has the control tokens of its model if they are behind its tokens") {
  std::string text = ranks();
  CHECK(parse_rank_file(text, "gpt2", "small").added.empty());
  // A token of two bytes for each rank up to GPT-2's last.
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (unsigned rank = 599; rank < 50256; ++rank) {
    text += "AAEC";
    for (const unsigned shift : {18u, 12u, 6u, 0u}) text += digits[rank >> shift & 63];
    text += " " + std::to_string(rank) + "\n";
  }
  const TokenizerSpec spec = parse_rank_file(text, "gpt2", "large");
  REQUIRE(spec.added.size() == 1);
  CHECK(spec.end_of_text() == 50256u);
}

TEST_CASE("what is no rank file is refused, naming the token") {
  const auto refusal = [](const std::string& more, const char* pattern = "gpt2") -> std::string {
    try {
      parse_rank_file(ranks() + more, pattern, "small");
      return "accepted";
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      CHECK_FALSE(error.hint().empty());
      return error.text();
    }
  };
  CHECK_THAT(refusal("eHl6\n"), Contains("small: token 600: expected two words: 'eHl6'"));
  CHECK_THAT(refusal("eHl6 700 7\n"), Contains("expected two words"));
  CHECK_THAT(refusal("eHl 700\n"), Contains("not base64"));
  CHECK_THAT(refusal("e=l6 700\n"), Contains("not base64"));
  CHECK_THAT(refusal("==== 700\n"), Contains("not base64"));
  CHECK_THAT(refusal("eHl6 -1\n"), Contains("not a rank"));
  CHECK_THAT(refusal("eHl6 99999999999\n"), Contains("not a rank"));
  CHECK_THAT(refusal("eHl6 16000000\n"), Contains("far beyond"));
  CHECK_THAT(refusal("eHl6XXX3 598\n"), Contains("a rank for the second time"));
  CHECK_THAT(refusal("YQ== 700\n"), Contains("a token for the second time"));
  CHECK_THAT(refusal(std::string(4000, 'A') + " 700\n"), Contains("more than 1024 bytes"));
  CHECK_THAT(refusal("", "gpt9"), Contains("unknown pattern 'gpt9'"));
  CHECK_THROWS_WITH(parse_rank_file("YQ== 0\n", "gpt2", "one"), Contains("byte 0x00 has no token"));
}

}  // namespace
}  // namespace bench::tokenizer
