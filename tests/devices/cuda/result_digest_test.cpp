#include "devices/cuda/result_digest.h"

#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace bench {
namespace {

std::vector<WordPair> some_pairs(std::size_t count) {
  std::vector<WordPair> pairs(count);
  for (std::size_t i = 0; i < count; ++i) pairs[i] = {random_bits(1, i), random_bits(2, i)};
  return pairs;
}

/// As a grid of `threads` computes it.
std::uint64_t digest_by(const std::vector<WordPair>& pairs, std::size_t threads) {
  std::uint64_t sum = 0;
  for (std::size_t thread = 0; thread < threads; ++thread)
    sum += digest_of_pairs(pairs.data(), pairs.size(), thread, threads);
  return sum;
}

std::span<const std::byte> bytes_of(const std::vector<WordPair>& pairs) {
  return std::as_bytes(std::span(pairs));
}

TEST_CASE("the digest of a grid is the host's, whatever the number of threads and the size") {
  for (const std::size_t count : {0u, 1u, 7u, 256u, 1023u, 300'000u}) {
    const std::vector<WordPair> pairs = some_pairs(count);
    const std::uint64_t host = digest_of(bytes_of(pairs));
    for (const std::size_t threads : {1u, 3u, 256u, 2048u})
      CHECK(digest_by(pairs, threads) == host);
  }
}

TEST_CASE("each flipped bit, and two exchanged words, change the digest") {
  std::vector<WordPair> pairs = some_pairs(8);
  const std::uint64_t right = digest_by(pairs, 4);
  for (WordPair& pair : pairs)
    for (std::uint64_t* word : {&pair.first, &pair.second})
      for (int bit = 0; bit < 64; ++bit) {
        *word ^= std::uint64_t{1} << bit;
        CHECK(digest_by(pairs, 4) != right);
        *word ^= std::uint64_t{1} << bit;
      }
  std::swap(pairs[0].first, pairs[5].second);
  CHECK(digest_by(pairs, 4) != right);
}

TEST_CASE("bytes after the last whole word count on the host") {
  std::vector<std::byte> bytes(21, std::byte{3});
  const std::uint64_t right = digest_of(bytes);
  bytes.back() ^= std::byte{1};
  CHECK(digest_of(bytes) != right);
}

}  // namespace
}  // namespace bench
