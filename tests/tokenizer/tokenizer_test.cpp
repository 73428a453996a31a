#include "tokenizer/tokenizer.h"

#include "core/elements.h"
#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/tokenizer/small_tokenizer.h"
#include "tokenizer/tokenizer_file.h"

namespace bench::tokenizer {
namespace {

using Catch::Matchers::Contains;
using Ids = std::vector<TokenId>;

TokenizerSpec small_spec() { return parse_tokenizer_json(small_file(), "small.json"); }

TEST_CASE("any bytes come back from their IDs") {
  if (!why_no_patterns().empty()) return;
  for (const Specials specials : {Specials::as_text, Specials::as_tokens}) {
    const Tokenizer tokenizer(small_spec(), specials);
    Encoder encoder(tokenizer);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      std::string text;
      const std::uint64_t length = random_bits(seed, 0) % 200;
      for (std::uint64_t i = 1; i <= length; ++i) {
        const std::uint64_t bits = random_bits(seed, i);
        // Half letters, and bytes that are rarely UTF-8.
        text += static_cast<char>(bits % 2 == 0 ? 'a' + bits / 2 % 26 : bits >> 8 & 0xff);
        if (bits >> 20 % 30 == 0) text += "<|endoftext|>";
      }
      const Ids ids = encoder.encode(text);
      CHECK(ids.size() <= text.size());
      CHECK(tokenizer.decode(ids) == text);
    }
  }
}

TEST_CASE("bytes that are not UTF-8 are pieces of their own") {
  if (!why_no_patterns().empty()) return;
  const Tokenizer tokenizer(small_spec());
  Encoder encoder(tokenizer);
  const std::string text = "the\xff\xfe the\xc3";
  std::vector<std::string> pieces;
  for (const auto piece : encoder.pieces(text)) pieces.emplace_back(piece);
  CHECK(pieces == std::vector<std::string>{"the", "\xff\xfe", " the", "\xc3"});
  CHECK(encoder.split(text) == 4);
  Ids expected = encoder.encode("the");
  expected.insert(expected.end(), {0xff, 0xfe});
  for (const TokenId id : encoder.encode(" the")) expected.push_back(id);
  expected.push_back(0xc3);
  CHECK(encoder.encode(text) == expected);
}

TEST_CASE("control tokens are text unless they are asked for; the longest wins") {
  if (!why_no_patterns().empty()) return;
  TokenizerSpec spec = small_spec();
  spec.added.push_back({600, "<|end", true});
  spec.added.push_back({601, "[USER]", false});
  const std::string text = "a<|endoftext|><|end|><|en[USER][USE";
  const Tokenizer as_text(spec), as_tokens(spec, Specials::as_tokens);
  const Ids plain = Encoder(as_text).encode(text), found = Encoder(as_tokens).encode(text);
  CHECK(std::ranges::count(plain, 599u) == 0);
  CHECK(std::ranges::count(plain, 600u) == 0);
  CHECK(std::ranges::count(plain, 601u) == 1);
  REQUIRE(found.size() > 3);
  CHECK(found[1] == 599);
  CHECK(found[2] == 600);
  CHECK(std::ranges::count(found, 601u) == 1);
  for (const Ids& ids : {plain, found}) CHECK(as_text.decode(ids) == text);
  CHECK(as_tokens.added("<|end") == 600u);
  CHECK(as_text.added("<|end") == std::nullopt);
}

TEST_CASE("an ID without a token is refused") {
  if (!why_no_patterns().empty()) return;
  const Tokenizer tokenizer(small_spec());
  CHECK(tokenizer.decode(Ids{599}) == "<|endoftext|>");
  CHECK_THROWS_WITH(tokenizer.decode(Ids{600}), Contains("small.json: no token has ID 600"));
}

TEST_CASE("an encoder counts how pieces were found, and forgets them with the pieces") {
  if (!why_no_patterns().empty()) return;
  const Tokenizer tokenizer(small_spec());
  Encoder encoder(tokenizer);
  const Ids first = encoder.encode("xyzzy qwqw xyzzy");
  CHECK(encoder.counts().pieces == 3);
  CHECK(encoder.counts().cached == 0);
  CHECK(encoder.encode("xyzzy qwqw xyzzy") == first);
  CHECK(encoder.counts().cached == 3);
  encoder.forget();
  CHECK(encoder.encode("xyzzy qwqw xyzzy") == first);
  CHECK(encoder.counts().cached == 0);
  CHECK(encoder.counts().merged + encoder.counts().whole == 3);
}

}  // namespace
}  // namespace bench::tokenizer
