#include "tokenizer/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "tokenizer/utf8.h"

namespace bench::tokenizer {

Tokenizer::Tokenizer(TokenizerSpec spec, Specials specials)
    : spec_(std::move(spec)), bpe_(spec_), added_texts_(spec_.size()) {
  for (const std::string& pattern : spec_.patterns) patterns_.emplace_back(pattern, spec_.origin);
  for (const AddedToken& token : spec_.added) {
    added_texts_[token.id] = token.text;
    if (token.special && specials == Specials::as_text) continue;
    sought_.push_back(token);
    begins_[static_cast<unsigned char>(token.text[0])] = true;
  }
  std::ranges::sort(sought_, {}, &AddedToken::text);
}

std::optional<TokenId> Tokenizer::added(std::string_view text) const {
  const auto found = std::ranges::lower_bound(sought_, text, {}, &AddedToken::text);
  if (found == sought_.end() || found->text != text) return {};
  return found->id;
}

void Tokenizer::decode(TokenId id, std::string& to) const {
  if (id < spec_.tokens.size() && !spec_.tokens[id].empty()) {
    to += spec_.tokens[id];
    return;
  }
  if (id >= added_texts_.size() || added_texts_[id].empty())
    throw Error(ErrorKind::input,
                fmt::format("{}: no token has ID {}", printable(spec_.origin), id),
                "decode with the tokenizer that encoded");
  to += added_texts_[id];
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) decode(id, text);
  return text;
}

Encoder::Encoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
  for (const SplitPattern& pattern : tokenizer.patterns_) matchers_.emplace_back(pattern);
}

void Encoder::forget() {
  cache_.clear();
  counts_ = {};
}

/// Of valid UTF-8.
template <class Piece>
void Encoder::split_by(std::size_t pattern, std::string_view text, const Piece& piece) {
  if (pattern == matchers_.size()) return piece(text);
  SplitPattern::Matcher& matcher = matchers_[pattern];
  const bool last = pattern + 1 == matchers_.size();
  const auto part = [&](std::string_view found) {
    if (last)
      piece(found);
    else
      split_by(pattern + 1, found, piece);
  };
  for (std::size_t at = 0; at < text.size();) {
    const SplitPattern::Found found = matcher.next(text, at);
    if (found.begin > at) part(text.substr(at, found.begin - at));
    if (found.end > found.begin) part(text.substr(found.begin, found.end - found.begin));
    at = found.end;
  }
}

template <class Piece>
void Encoder::split_text(std::string_view text, const Piece& piece) {
  while (!text.empty()) {
    const std::size_t valid = valid_utf8(text);
    if (valid > 0) split_by(0, text.substr(0, valid), piece);
    text.remove_prefix(valid);
    const std::size_t invalid = invalid_utf8(text);
    if (invalid > 0) piece(text.substr(0, invalid));
    text.remove_prefix(invalid);
  }
}

/// The longest token that the text begins with; null for none.
const AddedToken* Encoder::added_at(std::string_view text) const {
  const AddedToken* longest = nullptr;
  auto first = tokenizer_.sought_.begin(), end = tokenizer_.sought_.end();
  // The range of tokens that begin as the text does, narrowed by one byte after another.
  for (std::size_t depth = 0; first != end; ++depth) {
    if (first->text.size() == depth) longest = &*first++;
    if (depth == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[depth]);
    const auto at = [depth](const AddedToken& token) {
      return static_cast<unsigned char>(token.text[depth]);
    };
    const auto range = std::ranges::equal_range(first, end, byte, {}, at);
    first = range.begin();
    end = range.end();
  }
  return longest;
}

template <class Piece, class Added>
void Encoder::walk(std::string_view text, const Piece& piece, const Added& added) {
  if (tokenizer_.sought_.empty()) return split_text(text, piece);
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* found = tokenizer_.begins_[static_cast<unsigned char>(text[at])]
                                  ? added_at(text.substr(at))
                                  : nullptr;
    if (found == nullptr) {
      ++at;
      continue;
    }
    split_text(text.substr(begin, at - begin), piece);
    added(*found);
    begin = at += found->text.size();
  }
  split_text(text.substr(begin), piece);
}

TokenId* Encoder::encode_piece(std::string_view piece, TokenId* out) {
  const Bpe& bpe = tokenizer_.bpe_;
  if (piece.size() == 1) {
    *out = bpe.of_byte(static_cast<unsigned char>(piece[0]));
    return out + 1;
  }
  ++counts_.pieces;
  const std::uint64_t hash = piece_hash(piece);
  const std::span<const TokenId> known = cache_.find(piece, hash);
  if (!known.empty()) {
    ++counts_.cached;
    return std::ranges::copy(known, out).out;
  }
  std::size_t made = 1;
  if (const TokenId whole = bpe.whole(piece, hash); whole != kMostTokens) {
    ++counts_.whole;
    *out = whole;
  } else {
    ++counts_.merged;
    made = bpe.merge(piece, out, scratch_);
  }
  cache_.keep(piece, hash, {out, made});
  return out + made;
}

std::size_t Encoder::encode(std::string_view text, TokenId* out) {
  TokenId* end = out;
  walk(
      text, [&](std::string_view piece) { end = encode_piece(piece, end); },
      [&](const AddedToken& token) { *end++ = token.id; });
  return static_cast<std::size_t>(end - out);
}

std::vector<TokenId> Encoder::encode(std::string_view text) {
  std::vector<TokenId> ids(text.size());
  ids.resize(encode(text, ids.data()));
  return ids;
}

std::size_t Encoder::split(std::string_view text) {
  std::size_t count = 0;
  walk(
      text, [&](std::string_view) { ++count; }, [&](const AddedToken&) { ++count; });
  return count;
}

std::vector<std::string_view> Encoder::pieces(std::string_view text) {
  std::vector<std::string_view> pieces;
  walk(
      text, [&](std::string_view piece) { pieces.push_back(piece); },
      [&](const AddedToken& token) { pieces.push_back(token.text); });
  return pieces;
}

}  // namespace bench::tokenizer
