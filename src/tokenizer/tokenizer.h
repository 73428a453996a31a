// A text to token IDs and back: added tokens are found in the text, what is between them is split
// into pieces by the patterns, and each piece is encoded by merges.
//
// Nothing of a text is lost: what a pattern does not match is a piece of its own, and so is each
// run of bytes that are not UTF-8. decode() of the IDs is the text, whatever its bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/bpe.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/tokenizer_spec.h"

namespace bench::tokenizer {

/// What becomes of a control token's text within a text: the control token (as `tokenizers` does by
/// default), or the tokens of its letters (as encode_ordinary of tiktoken does). A corpus is not
/// supposed to end its documents itself, so the latter is the default.
enum class Specials { as_text, as_tokens };

class Tokenizer {
 public:
  /// Throws Error(input) for a byte without a token or an invalid pattern,
  /// Error(environment) without PCRE2.
  explicit Tokenizer(TokenizerSpec spec, Specials specials = Specials::as_text);
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const TokenizerSpec& spec() const { return spec_; }
  /// The added token that is looked for by this text.
  std::optional<TokenId> added(std::string_view text) const;
  /// The bytes of the tokens. Throws Error(input) for an ID without a token.
  std::string decode(std::span<const TokenId> ids) const;
  /// Appends those of one.
  void decode(TokenId id, std::string& to) const;

 private:
  friend class Encoder;
  TokenizerSpec spec_;
  Bpe bpe_;
  std::vector<SplitPattern> patterns_ = {};
  std::vector<AddedToken> sought_ = {};  // in texts, by their text
  std::array<bool, 256> begins_ = {};    // one of them
  std::vector<std::string> added_texts_ = {};
};

/// How many pieces were encoded, and how.
struct PieceCounts {
  std::uint64_t pieces = 0;  // of more than one byte
  std::uint64_t cached = 0;
  std::uint64_t whole = 0;
  std::uint64_t merged = 0;
  friend PieceCounts operator+(const PieceCounts& a, const PieceCounts& b) {
    return {a.pieces + b.pieces, a.cached + b.cached, a.whole + b.whole, a.merged + b.merged};
  }
};

/// What one thread needs; the tokenizer is borrowed.
class Encoder {
 public:
  explicit Encoder(const Tokenizer& tokenizer);

  /// Writes the IDs to `out`, which has room for as many as the text has bytes, and returns how
  /// many there are. Throws Error(input) if a pattern takes too many steps.
  std::size_t encode(std::string_view text, TokenId* out);
  std::vector<TokenId> encode(std::string_view text);

  /// Splits only; returns the number of pieces.
  std::size_t split(std::string_view text);
  /// The pieces and added tokens in order; they refer to the text and the tokenizer.
  std::vector<std::string_view> pieces(std::string_view text);

  /// Forgets the pieces met so far, so that the next text finds an encoder as new.
  void forget();
  /// Since forget().
  const PieceCounts& counts() const { return counts_; }

 private:
  template <class Piece>
  void split_text(std::string_view text, const Piece& piece);
  template <class Piece>
  void split_by(std::size_t pattern, std::string_view text, const Piece& piece);
  template <class Piece, class Added>
  void walk(std::string_view text, const Piece& piece, const Added& added);
  const AddedToken* added_at(std::string_view text) const;
  TokenId* encode_piece(std::string_view piece, TokenId* out);

  const Tokenizer& tokenizer_;
  std::vector<SplitPattern::Matcher> matchers_ = {};
  PieceCache cache_ = {};
  Bpe::Scratch scratch_ = {};
  PieceCounts counts_ = {};
};

}  // namespace bench::tokenizer
