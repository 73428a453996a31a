#include "inference/paged_cache.h"

#include <numeric>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::inference {
namespace {

BlockTokens tokens_from(std::int32_t first) {
  BlockTokens tokens;
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

std::vector<std::int32_t> string_from(std::int32_t first, int count) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

}  // namespace

TEST_CASE("a kept block is found by its tokens and those before them, and only then") {
  CacheBlocks blocks(4);
  const int first = blocks.take(), second = blocks.take();
  const auto begin = blocks.keep(first, 0, tokens_from(0));
  blocks.keep(second, begin, tokens_from(16));
  CHECK(blocks.find(string_from(0, 33)).blocks == std::vector<int>{first, second});
  CHECK(blocks.find(string_from(0, 32)).blocks == std::vector<int>{first});  // one token is left
  CHECK(blocks.find(string_from(16, 33)).blocks.empty());  // the same tokens, another beginning
  CHECK(blocks.find(string_from(1, 33)).blocks.empty());
}

TEST_CASE("a kept block without users is taken last, the longest idle first, and then forgotten") {
  CacheBlocks blocks(3);
  const int a = blocks.take(), b = blocks.take();
  blocks.keep(a, 0, tokens_from(0));
  blocks.keep(b, 0, tokens_from(100));
  blocks.release(b);
  blocks.release(a);
  CHECK(blocks.available() == 3);
  const int unused = blocks.take();
  CHECK((unused != a && unused != b));
  CHECK(blocks.take() == b);
  CHECK(blocks.find(string_from(100, 17)).blocks.empty());
  CHECK(blocks.find(string_from(0, 17)).blocks == std::vector<int>{a});  // in use again
  CHECK(blocks.available() == 0);
  CHECK_THROWS_AS(blocks.take(), Error);
}

TEST_CASE("a block is shared until its last user has released it") {
  CacheBlocks blocks(2);
  const int block = blocks.take();
  blocks.keep(block, 0, tokens_from(0));
  blocks.find(string_from(0, 17));
  blocks.release(block);
  CHECK(blocks.available() == 1);
  blocks.release(block);
  CHECK(blocks.available() == 2);
  CHECK_THROWS_AS(blocks.release(block), Error);
}

TEST_CASE("of two equal blocks one is kept") {
  CacheBlocks blocks(2);
  const int a = blocks.take(), b = blocks.take();
  const auto content = blocks.keep(a, 0, tokens_from(0));
  CHECK(blocks.keep(b, 0, tokens_from(0)) == content);
  blocks.release(b);
  CHECK(blocks.find(string_from(0, 17)).blocks == std::vector<int>{a});
}

}  // namespace bench::inference
