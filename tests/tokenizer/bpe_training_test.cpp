#include "tokenizer/bpe_training.h"

#include "core/error.h"
#include "tests/support/catch.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_file.h"

namespace bench::tokenizer {
namespace {

using Catch::Matchers::Contains;

TokenizerSpec trained(const std::vector<std::string_view>& documents, TokenId vocabulary) {
  return train_bpe(documents, {.vocabulary = vocabulary, .pattern = named_pattern("gpt2")});
}

TEST_CASE("training merges the most frequent pair first, the lowest IDs of equally frequent ones") {
  if (!why_no_patterns().empty()) return;
  // ab three times, then abc twice; cd and xy twice each, of which cd has the lower IDs.
  const TokenizerSpec spec = trained({"abc\nabc\nab\ncd\ncd\nxy\nxy"}, 300);
  REQUIRE(spec.tokens.size() >= 260);
  CHECK(spec.tokens[256] == "ab");
  CHECK(spec.tokens[257] == "cd");
  CHECK(spec.tokens[258] == "xy");
  CHECK(spec.tokens[259] == "abc");
  // No other pair occurs twice within a piece.
  CHECK(spec.tokens.size() == 260);
  CHECK(spec.added.at(0).id == 260);
  CHECK(spec.merges.at(3).left == 256);
  CHECK(spec.merges.at(3).right == 'c');
}

TEST_CASE("runs of one letter are counted and merged without overlap") {
  if (!why_no_patterns().empty()) return;
  const TokenizerSpec spec = trained({"aaaaaaaa", "aaaaaaaa"}, 300);
  CHECK(spec.tokens.at(256) == "aa");
  CHECK(spec.tokens.at(257) == "aaaa");
  CHECK(spec.tokens.at(258) == "aaaaaaaa");
}

TEST_CASE("pieces of more than 1 KiB are left out") {
  if (!why_no_patterns().empty()) return;
  CHECK(trained({std::string(1025, 'a'), std::string(1025, 'a')}, 300).merges.empty());
  CHECK_FALSE(trained({std::string(1024, 'a')}, 300).merges.empty());
}

TEST_CASE("a trained vocabulary ends at its size, and its file gives the same IDs") {
  if (!why_no_patterns().empty()) return;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += " word" + std::to_string(i * i) + " über";
  const TokenizerSpec spec = trained({text}, 400);
  CHECK(spec.size() == 400);
  CHECK(spec.end_of_text() == 399u);
  const TokenizerSpec again = parse_tokenizer_json(tokenizer_json(spec), "again");
  CHECK(again.tokens == spec.tokens);
  const Tokenizer first(spec), second(again);
  const auto ids = Encoder(first).encode(text);
  CHECK(Encoder(second).encode(text) == ids);
  CHECK(first.decode(ids) == text);
  CHECK(ids.size() < text.size() / 2);
  CHECK(tokenizer_json(trained({text}, 400)) == tokenizer_json(spec));
}

TEST_CASE("a vocabulary without room for the bytes is refused") {
  if (!why_no_patterns().empty()) return;
  CHECK_THROWS_WITH(trained({"a"}, 256), Contains("a vocabulary of 256 tokens"));
  CHECK(trained({}, 300).size() == 257);
}

}  // namespace
}  // namespace bench::tokenizer
