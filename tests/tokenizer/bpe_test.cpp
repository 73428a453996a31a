#include "tokenizer/bpe.h"

#include "core/elements.h"
#include "core/error.h"
#include "probes/preprocessing/reference_bpe.h"
#include "tests/support/catch.h"
#include "tests/tokenizer/small_tokenizer.h"
#include "tokenizer/rank_file.h"
#include "tokenizer/tokenizer_file.h"

namespace bench::tokenizer {
namespace {

std::vector<TokenId> merged(const Bpe& bpe, std::string_view piece) {
  Bpe::Scratch scratch;
  std::vector<TokenId> ids(piece.size());
  ids.resize(bpe.merge(piece, ids.data(), scratch));
  return ids;
}

/// Letters that merge often, and some that never do.
std::string random_piece(std::uint64_t seed, std::size_t most) {
  std::string piece;
  const std::size_t length = 1 + random_bits(seed, 0) % most;
  for (std::uint64_t i = 1; piece.size() < length; ++i)
    piece += "eationrst shE\xd0\xb0z"[random_bits(seed, i) % 14];
  return piece;
}

TEST_CASE("merges of short and long pieces are those of a plain reference") {
  TokenizerSpec ranks =
      parse_rank_file(read_file("tests/data/tokenizer/small.tiktoken"), "gpt2", "");
  ranks.whole_pieces = false;
  for (const TokenizerSpec& spec : {parse_tokenizer_json(small_file(), "small.json"), ranks}) {
    const Bpe bpe(spec);
    const preprocessing::ReferenceBpe reference(spec);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const std::string piece = random_piece(seed, seed % 3 == 0 ? 200 : 50);
      INFO(piece);
      CHECK(merged(bpe, piece) == reference.encode(piece));
    }
    for (const std::size_t length : {47u, 48u, 49u, 50u, 301u})
      for (const char* unit : {"a", "e", " ", "er"}) {
        std::string piece;
        while (piece.size() < length) piece += unit;
        CHECK(merged(bpe, piece) == reference.encode(piece));
      }
  }
}

TEST_CASE("a megabyte of one letter is merged in far less than quadratic time") {
  // A token for each power of two up to 64 letters.
  TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte) spec.tokens.emplace_back(1, static_cast<char>(byte));
  TokenId last = 'a';
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    const auto id = static_cast<TokenId>(spec.tokens.size());
    spec.tokens.push_back(spec.tokens[last] + spec.tokens[last]);
    spec.merges.push_back({last, last, id, rank});
    last = id;
  }
  const Bpe bpe(spec);
  // Quadratic time would be a minute at least, and the test's limit.
  CHECK(merged(bpe, std::string(1u << 20, 'a')) == std::vector<TokenId>((1u << 20) / 64, last));
}

TEST_CASE(
    "a token that merges do not lead to is a whole piece only where whole pieces come first") {
  TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte) spec.tokens.emplace_back(1, static_cast<char>(byte));
  spec.tokens.insert(spec.tokens.end(), {"bc", "ab", "abc"});
  spec.merges = {{'b', 'c', 256, 0}, {'a', 'b', 257, 1}, {257, 'c', 258, 2}};
  const auto whole = [](const Bpe& bpe, std::string_view piece) {
    return bpe.whole(piece, piece_hash(piece));
  };
  const Bpe strict(spec);
  CHECK(whole(strict, "bc") == 256);
  CHECK(whole(strict, "ab") == 257);
  CHECK(whole(strict, "abc") == kMostTokens);
  CHECK(merged(strict, "abc") == std::vector<TokenId>{'a', 256});
  spec.whole_pieces = true;
  CHECK(whole(Bpe(spec), "abc") == 258);
  CHECK(whole(Bpe(spec), "abd") == kMostTokens);
}

TEST_CASE("a cache of pieces gives what was kept until it is cleared") {
  PieceCache cache;
  const std::vector<TokenId> ids = {1, 2, 3};
  const std::uint64_t hash = piece_hash("piece");
  CHECK(cache.find("piece", hash).empty());
  cache.keep("piece", hash, ids);
  CHECK(std::ranges::equal(cache.find("piece", hash), ids));
  // Another piece in the same place.
  CHECK(cache.find("other", hash).empty());
  CHECK(cache.find("piec", hash).empty());
  const std::string long_piece(27, 'x');
  cache.keep(long_piece, hash, ids);
  CHECK(std::ranges::equal(cache.find("piece", hash), ids));
  cache.clear();
  CHECK(cache.find("piece", hash).empty());
}

}  // namespace
}  // namespace bench::tokenizer
