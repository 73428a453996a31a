// What a tokenizer file says: tokens, merges, the pattern that splits a text into pieces, and the
// tokens that are looked for in the text itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::tokenizer {

using TokenId = std::uint32_t;

/// IDs are smaller: no tokenizer has a hundredth of that, and a table has an entry for each.
inline constexpr TokenId kMostTokens = 1u << 24;

/// In bytes. Longer ones are refused: all ways to cut a token in two are tried.
inline constexpr std::size_t kLongestToken = 1024;

/// Two neighbouring tokens that become one. Of all pairs in a piece the one of the lowest rank is
/// merged first, and of equal ones the leftmost.
struct Merge {
  TokenId left = 0;
  TokenId right = 0;
  TokenId result = 0;
  std::uint32_t rank = 0;
};

/// A token that stands for a text wherever that occurs, whatever is around it.
struct AddedToken {
  TokenId id = 0;
  std::string text = {};
  bool special = false;  // a control token, such as the end of a text
};

struct TokenizerSpec {
  std::string origin = {};               // the file, or how it was made
  std::vector<std::string> tokens = {};  // bytes by ID; empty: unused, or only an added token
  std::vector<Merge> merges = {};        // no pair twice
  /// A piece that is a token becomes that token, even where merges would not lead to it.
  bool whole_pieces = false;
  std::vector<std::string> patterns = {};  // each splits the pieces of the one before it
  std::vector<AddedToken> added = {};

  /// One more than the largest ID.
  TokenId size() const;
  /// IDs of the tokens of one byte. Throws Error(input) naming the first byte without a token.
  std::array<TokenId, 256> byte_tokens() const;
  /// The token that ends a text: the first of the names in use that is among the added tokens.
  std::optional<TokenId> end_of_text() const;
};

/// Merges of all pairs of tokens that together are a token, by its rank, which is its ID: what
/// tiktoken merges. Throws Error(input) for more than 2^24.
std::vector<Merge> merges_of_ranks(const std::vector<std::string>& tokens);

}  // namespace bench::tokenizer
