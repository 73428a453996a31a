// Byte-pair encoding of single pieces by merge ranks: from the bytes of a piece on, the pair of
// neighbours of the lowest rank is merged, the leftmost of equal ones, until no pair has a rank
// (Sennrich et al. 2016, on bytes as in GPT-2). Short pieces are scanned for the lowest rank after
// each merge; long ones keep their pairs in a heap, so that n bytes take n log n steps whatever
// they are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer_spec.h"

namespace bench::tokenizer {

/// A hash of a piece's bytes, as PieceCache and Bpe take it.
std::uint64_t piece_hash(std::string_view piece);

class Bpe {
 public:
  /// Throws Error(input) for a byte without a token, and for merges made to collide in the table.
  /// The tokens are borrowed.
  explicit Bpe(const TokenizerSpec& spec);

  /// Memory of one thread, kept between pieces.
  struct Scratch {
    std::vector<TokenId> ids = {};
    std::vector<std::uint32_t> ranks = {}, previous = {}, next = {};
    std::vector<std::uint64_t> heap = {};
  };

  TokenId of_byte(unsigned char byte) const { return bytes_[byte]; }

  /// The token that the whole piece becomes; kMostTokens if it becomes several.
  TokenId whole(std::string_view piece, std::uint64_t hash) const;

  /// Merges a piece of at least one byte into `out`, which has room for a token of each byte;
  /// returns how many there are. Does not look for the whole piece first.
  std::size_t merge(std::string_view piece, TokenId* out, Scratch& scratch) const;

 private:
  struct Pair {
    TokenId left, right, result;
    std::uint32_t rank;  // kNoRank: an empty place
  };
  struct Whole {
    std::uint32_t hash;  // the upper half
    TokenId id;          // kMostTokens: an empty place
  };
  const Pair* find(TokenId left, TokenId right) const;
  std::size_t merge_short(std::string_view piece, TokenId* out) const;
  std::size_t merge_long(std::string_view piece, TokenId* out, Scratch& scratch) const;

  const std::vector<std::string>& tokens_;
  std::array<TokenId, 256> bytes_;
  std::vector<Pair> pairs_;    // open addressing, a power of two, at most half full
  std::vector<Whole> wholes_;  // likewise
};

/// The tokens of the pieces that one thread met last: direct-mapped, without chains, so that its
/// memory and the time of a look-up are bounded whatever the text.
class PieceCache {
 public:
  PieceCache();

  /// Forgets all pieces.
  void clear();
  /// The tokens of the piece, or none.
  std::span<const TokenId> find(std::string_view piece, std::uint64_t hash) const;
  /// Pieces or answers that are too long are not kept.
  void keep(std::string_view piece, std::uint64_t hash, std::span<const TokenId> ids);

 private:
  static constexpr std::size_t kLongest = 26, kMostIds = 8;
  struct alignas(64) Entry {
    std::uint32_t pass = 0;  // 0: never used
    std::uint8_t bytes = 0, ids = 0;
    char piece[kLongest];
    TokenId of[kMostIds];
  };
  std::uint32_t pass_ = 1;
  std::vector<Entry> entries_;
};

}  // namespace bench::tokenizer
