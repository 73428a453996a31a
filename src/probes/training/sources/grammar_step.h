// The language of GrammarSource, one token at a time, as functions that a GPU kernel can call too.
// The state is a function of the tokens so far (the source is "unifilar"), and so the probability
// of every token given all before it is known exactly: sums and products of multiples of 2^-32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/training/sources/alias_table.h"
#include "probes/training/sources/random.h"
#include "probes/training/sources/token_source.h"

namespace bench::training {

/// Tokens 0 to 9 are symbols of their own; the others are members of the symbols from 10 on.
inline constexpr std::uint32_t kSymbols = 64;
inline constexpr std::int32_t kCopyToken = 0;  // a key follows
inline constexpr std::int32_t kEndToken = 1;   // of what is copied
inline constexpr std::int32_t kFirstAnchor = 2;
inline constexpr std::int32_t kAnchors = 8;
inline constexpr std::int32_t kFirstWord = kFirstAnchor + kAnchors;
inline constexpr std::uint32_t kGroups = 1024;  // of last tokens, for the choice of members

struct GrammarTables {
  std::uint32_t members = 1;                      // tokens of each symbol from kFirstWord on
  std::uint32_t begin_copy = 0, end_copy = 0;     // probabilities, times 2^32
  AliasView symbols = {};                         // row: symbol before * kSymbols + last symbol
  const std::uint32_t* symbol_weights = nullptr;  // [before][last][symbol]
  AliasView slots = {};                           // which of the members likely here
  const std::uint32_t* slot_weights = nullptr;
  std::uint32_t slot_count = 1;
  const std::uint32_t* first_member = nullptr;  // [symbol][group of the last token]

  /// Tokens from this one on never occur.
  constexpr std::uint32_t tokens() const { return kFirstWord + (kSymbols - kFirstWord) * members; }
  constexpr std::uint32_t symbol(std::int32_t token) const {
    if (token < kFirstWord) return static_cast<std::uint32_t>(token);
    return kFirstWord + static_cast<std::uint32_t>(token - kFirstWord) / members;
  }
  constexpr std::size_t row(const std::int32_t* end) const {
    return symbol(end[-2]) * kSymbols + symbol(end[-1]);
  }
  /// The member of slot 0 after the token `last`; slot j has the j-th after it, cyclically.
  constexpr std::uint32_t first(std::uint32_t of, std::int32_t last) const {
    const std::uint32_t group = static_cast<std::uint32_t>(last) * 2654435761u >> 22;
    return first_member[of * kGroups + group];
  }
};

struct GrammarState {
  enum class Next : std::uint8_t { opening, base, key, copy };
  Next next = Next::opening;
  std::int32_t position = 0;  // tokens so far
  std::int32_t source = 0;    // where the next token is copied from
  std::int32_t last[kAnchors] = {-1, -1, -1, -1, -1, -1, -1, -1};  // where each anchor last stood

  constexpr TokenClass token_class() const {
    if (next == Next::key) return TokenClass::key;
    return next == Next::copy ? TokenClass::copy : TokenClass::base;
  }
  /// Goes on by one token.
  constexpr void add(std::int32_t token) {
    const std::int32_t anchor = token - kFirstAnchor;
    const bool is_anchor = anchor >= 0 && anchor < kAnchors;
    if (next == Next::key) {
      const std::int32_t earlier = is_anchor ? last[anchor] : -1;
      // The place just before COPY has no successor but COPY itself.
      const bool found = earlier >= 0 && earlier < position - 1;
      next = found ? Next::copy : Next::base;
      source = earlier + 1;
    } else if (next == Next::copy) {
      ++source;
      if (token == kEndToken) next = Next::base;
    } else if (next == Next::base) {
      if (token == kCopyToken) next = Next::key;
    } else if (position == 1) {
      next = Next::base;
    }
    if (is_anchor) last[anchor] = position;
    ++position;
  }
};

/// What is copied ends where another copy begins or ends.
constexpr bool must_end(const GrammarState& state, const std::int32_t* tokens) {
  return tokens[state.source] < kFirstAnchor;
}

/// The next token, from two random words; `tokens` are all so far.
constexpr std::int32_t draw(const GrammarTables& tables, const GrammarState& state,
                            const std::int32_t* tokens, std::uint64_t bits, std::uint64_t more) {
  using Next = GrammarState::Next;
  const auto low = static_cast<std::uint32_t>(bits), high = static_cast<std::uint32_t>(bits >> 32);
  if (state.next == Next::opening)
    return kFirstAnchor + static_cast<std::int32_t>(below(high, tables.tokens() - kFirstAnchor));
  if (state.next == Next::key) return kFirstAnchor + static_cast<std::int32_t>(high % kAnchors);
  if (state.next == Next::copy)
    return must_end(state, tokens) || low < tables.end_copy ? kEndToken : tokens[state.source];
  if (low < tables.begin_copy) return kCopyToken;
  const std::int32_t* end = tokens + state.position;
  const std::uint32_t symbol = tables.symbols.draw(tables.row(end), high);
  if (symbol < kFirstWord) return static_cast<std::int32_t>(symbol);
  std::uint32_t member = 0;
  if (tables.members > 1) {
    const std::uint32_t slot = tables.slots.draw(0, static_cast<std::uint32_t>(more));
    member = (tables.first(symbol, end[-1]) + slot) % tables.members;
  }
  return static_cast<std::int32_t>(kFirstWord + (symbol - kFirstWord) * tables.members + member);
}

/// Of any token after the state's; those of all tokens sum to 1.
constexpr double probability(const GrammarTables& tables, const GrammarState& state,
                             const std::int32_t* tokens, std::int32_t token) {
  using Next = GrammarState::Next;
  if (token < 0 || static_cast<std::uint32_t>(token) >= tables.tokens()) return 0;
  if (state.next == Next::opening)
    return token < kFirstAnchor
               ? 0
               : static_cast<double>(ways_below(static_cast<std::uint32_t>(token - kFirstAnchor),
                                                tables.tokens() - kFirstAnchor)) *
                     0x1p-32;
  if (state.next == Next::key)
    return token >= kFirstAnchor && token < kFirstWord ? 1.0 / kAnchors : 0;
  const double end = tables.end_copy * 0x1p-32, begin = tables.begin_copy * 0x1p-32;
  if (state.next == Next::copy) {
    if (must_end(state, tokens)) return token == kEndToken ? 1 : 0;
    return token == kEndToken ? end : token == tokens[state.source] ? 1 - end : 0;
  }
  if (token == kCopyToken) return begin;
  const std::int32_t* last = tokens + state.position;
  const std::uint32_t symbol = tables.symbol(token);
  double p = (1 - begin) * tables.symbol_weights[tables.row(last) * kSymbols + symbol] * 0x1p-32;
  if (symbol < kFirstWord || tables.members == 1) return p;
  const std::uint32_t member = static_cast<std::uint32_t>(token - kFirstWord) % tables.members;
  const std::uint32_t slot =
      (member + tables.members - tables.first(symbol, last[-1])) % tables.members;
  return slot < tables.slot_count ? p * tables.slot_weights[slot] * 0x1p-32 : 0;
}

}  // namespace bench::training
