#include "tokenizer/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "core/error.h"
#include "core/text.h"

namespace bench::tokenizer {
namespace {

constexpr std::uint32_t kNoRank = 0xffffffff;
constexpr std::uint32_t kNowhere = 0xffffffff;
constexpr std::size_t kShort = 48;  // bytes: from there on a heap is faster than scans
constexpr std::size_t kMostProbes = 4096;
constexpr std::size_t kLongestPiece = std::size_t{1} << 31;
constexpr std::size_t kCachedPieces = 1u << 14;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const auto product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Word>
std::uint64_t word_at(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

std::uint64_t pair_hash(TokenId left, TokenId right) {
  return mixed((std::uint64_t{left} << 32 | right) ^ 0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u);
}

/// Places for `count` entries that leave half of them empty.
std::size_t places_for(std::size_t count) {
  return std::bit_ceil(2 * std::max<std::size_t>(count, 8));
}

}  // namespace

std::uint64_t piece_hash(std::string_view piece) {
  constexpr std::uint64_t kFirst = 0xa0761d6478bd642fu, kSecond = 0xe7037ed1a0b428dbu;
  const char* at = piece.data();
  std::size_t left = piece.size();
  std::uint64_t hash = kFirst ^ left;
  for (; left > 16; at += 16, left -= 16)
    hash = mixed(word_at<std::uint64_t>(at) ^ kSecond, word_at<std::uint64_t>(at + 8) ^ hash);
  std::uint64_t a = 0, b = 0;
  if (left >= 8) {
    a = word_at<std::uint64_t>(at);
    b = word_at<std::uint64_t>(at + left - 8);
  } else if (left >= 4) {
    a = word_at<std::uint32_t>(at);
    b = word_at<std::uint32_t>(at + left - 4);
  } else if (left > 0) {
    a = std::uint64_t{static_cast<unsigned char>(at[0])} << 16 |
        std::uint64_t{static_cast<unsigned char>(at[left / 2])} << 8 |
        static_cast<unsigned char>(at[left - 1]);
  }
  return mixed(kSecond ^ a, hash ^ b);
}

Bpe::Bpe(const TokenizerSpec& spec)
    : tokens_(spec.tokens),
      bytes_(spec.byte_tokens()),
      pairs_(places_for(spec.merges.size()), Pair{0, 0, 0, kNoRank}),
      wholes_(places_for(spec.tokens.size()), Whole{0, kMostTokens}) {
  for (const Merge& merge : spec.merges) {
    std::size_t place = pair_hash(merge.left, merge.right) & (pairs_.size() - 1);
    // Half of the places are empty, so only pairs chosen to collide get this far.
    std::size_t probes = 0;
    for (; pairs_[place].rank != kNoRank; place = (place + 1) & (pairs_.size() - 1))
      if (++probes > kMostProbes)
        throw Error(ErrorKind::input,
                    fmt::format("{}: more than {} merges have the same hash",
                                printable(spec.origin), kMostProbes),
                    "use a tokenizer whose merges were learned from text");
    pairs_[place] = {merge.left, merge.right, merge.result, merge.rank};
  }
  Scratch scratch;
  std::vector<TokenId> merged;
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const std::string& token = tokens_[id];
    if (token.empty()) continue;
    if (!spec.whole_pieces) {
      merged.resize(std::max(merged.size(), token.size()));
      if (merge(token, merged.data(), scratch) != 1 || merged[0] != id) continue;
    }
    const std::uint64_t hash = piece_hash(token);
    std::size_t place = hash & (wholes_.size() - 1);
    while (wholes_[place].id != kMostTokens) place = (place + 1) & (wholes_.size() - 1);
    wholes_[place] = {static_cast<std::uint32_t>(hash >> 32), static_cast<TokenId>(id)};
  }
}

const Bpe::Pair* Bpe::find(TokenId left, TokenId right) const {
  std::size_t place = pair_hash(left, right) & (pairs_.size() - 1);
  for (;; place = (place + 1) & (pairs_.size() - 1)) {
    const Pair& pair = pairs_[place];
    if (pair.rank == kNoRank) return nullptr;
    if (pair.left == left && pair.right == right) return &pair;
  }
}

TokenId Bpe::whole(std::string_view piece, std::uint64_t hash) const {
  std::size_t place = hash & (wholes_.size() - 1);
  for (;; place = (place + 1) & (wholes_.size() - 1)) {
    const Whole& whole = wholes_[place];
    if (whole.id == kMostTokens) return kMostTokens;
    if (whole.hash == static_cast<std::uint32_t>(hash >> 32) && tokens_[whole.id] == piece)
      return whole.id;
  }
}

std::size_t Bpe::merge(std::string_view piece, TokenId* out, Scratch& scratch) const {
  return piece.size() <= kShort ? merge_short(piece, out) : merge_long(piece, out, scratch);
}

std::size_t Bpe::merge_short(std::string_view piece, TokenId* out) const {
  std::array<std::uint32_t, kShort> ranks;  // of each token with the next one
  std::array<TokenId, kShort> results;
  std::size_t count = piece.size();
  for (std::size_t i = 0; i < count; ++i) out[i] = bytes_[static_cast<unsigned char>(piece[i])];
  const auto look = [&](std::size_t i) {
    const Pair* pair = find(out[i], out[i + 1]);
    ranks[i] = pair == nullptr ? kNoRank : pair->rank;
    if (pair != nullptr) results[i] = pair->result;
  };
  for (std::size_t i = 0; i + 1 < count; ++i) look(i);
  while (count > 1) {
    const auto lowest = std::min_element(ranks.begin(), ranks.begin() + (count - 1));
    if (*lowest == kNoRank) break;
    const auto at = static_cast<std::size_t>(lowest - ranks.begin());
    out[at] = results[at];
    --count;
    for (std::size_t i = at + 1; i < count; ++i) out[i] = out[i + 1];
    for (std::size_t i = at; i + 1 < count; ++i) {
      ranks[i] = ranks[i + 1];
      results[i] = results[i + 1];
    }
    if (at + 1 < count) look(at);
    if (at > 0) look(at - 1);
  }
  return count;
}

std::size_t Bpe::merge_long(std::string_view piece, TokenId* out, Scratch& scratch) const {
  if (piece.size() > kLongestPiece)
    throw Error(ErrorKind::input, fmt::format("a piece of {} bytes is too long", piece.size()),
                "use a text whose pieces have up to 2^31 bytes");
  const auto count = static_cast<std::uint32_t>(piece.size());
  auto& [ids, ranks, previous, next, heap] = scratch;
  ids.resize(count);
  ranks.resize(count);
  previous.resize(count);
  next.resize(count);
  heap.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    ids[i] = bytes_[static_cast<unsigned char>(piece[i])];
    previous[i] = i == 0 ? kNowhere : i - 1;
    next[i] = i + 1 == count ? kNowhere : i + 1;
  }
  // A heap of (rank, place); entries whose pair is gone are dropped when they come up.
  const auto look = [&](std::uint32_t i) {
    const Pair* pair = next[i] == kNowhere ? nullptr : find(ids[i], ids[next[i]]);
    ranks[i] = pair == nullptr ? kNoRank : pair->rank;
    return pair != nullptr;
  };
  for (std::uint32_t i = 0; i < count; ++i)
    if (look(i)) heap.push_back(std::uint64_t{ranks[i]} << 32 | i);
  std::ranges::make_heap(heap, std::greater{});
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, std::greater{});
    const auto rank = static_cast<std::uint32_t>(heap.back() >> 32);
    const auto at = static_cast<std::uint32_t>(heap.back());
    heap.pop_back();
    if (ranks[at] != rank) continue;
    const std::uint32_t gone = next[at];
    ids[at] = find(ids[at], ids[gone])->result;
    ranks[gone] = kNoRank;
    next[at] = next[gone];
    if (next[at] != kNowhere) previous[next[at]] = at;
    for (const std::uint32_t changed : {at, previous[at]})
      if (changed != kNowhere && look(changed)) {
        heap.push_back(std::uint64_t{ranks[changed]} << 32 | changed);
        std::ranges::push_heap(heap, std::greater{});
      }
  }
  std::size_t made = 0;
  for (std::uint32_t i = 0; i != kNowhere; i = next[i]) out[made++] = ids[i];
  return made;
}

PieceCache::PieceCache() : entries_(kCachedPieces) {}

void PieceCache::clear() {
  if (++pass_ != 0) return;
  std::ranges::fill(entries_, Entry{});
  pass_ = 1;
}

std::span<const TokenId> PieceCache::find(std::string_view piece, std::uint64_t hash) const {
  const Entry& entry = entries_[hash >> 32 & (kCachedPieces - 1)];
  if (entry.pass != pass_ || entry.bytes != piece.size() ||
      std::memcmp(entry.piece, piece.data(), piece.size()) != 0)
    return {};
  return {entry.of, entry.ids};
}

void PieceCache::keep(std::string_view piece, std::uint64_t hash, std::span<const TokenId> ids) {
  if (piece.size() > kLongest || ids.size() > kMostIds) return;
  Entry& entry = entries_[hash >> 32 & (kCachedPieces - 1)];
  entry.pass = pass_;
  entry.bytes = static_cast<std::uint8_t>(piece.size());
  entry.ids = static_cast<std::uint8_t>(ids.size());
  std::memcpy(entry.piece, piece.data(), piece.size());
  std::ranges::copy(ids, entry.of);
}

}  // namespace bench::tokenizer
