#include "probes/preprocessing/packing.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "core/error.h"

namespace bench::preprocessing {

PackWork::PackWork(const TokenDocuments& documents, Packing packing, std::uint64_t length,
                   TokenId padding, int threads)
    : documents_(documents),
      packing_(packing),
      length_(length),
      padding_(padding),
      pool_(threads),
      starts_(length + 2),
      open_(length + 1),
      room_words_(length / 64 + 1),
      shares_(static_cast<std::size_t>(threads) + 1) {
  plan();  // finds out how much memory is needed
  packed_.resize(planned_ * length_);
  spoil();
}

void PackWork::spoil() { std::ranges::fill(packed_, ~padding_); }

void PackWork::run(std::int64_t calls) {
  for (std::int64_t call = 0; call < calls; ++call) {
    plan();
    copy();
  }
}

void PackWork::plan() {
  parts_.clear();
  if (packing_ == Packing::concatenate)
    plan_concatenation();
  else
    plan_best_fit();
  divide();
}

/// Parts for each thread that have equally many tokens.
void PackWork::divide() {
  const std::size_t threads = shares_.size() - 1;
  std::uint64_t before = 0;
  std::size_t thread = 0;
  for (std::size_t p = 0; p < parts_.size(); before += parts_[p++].tokens)
    while (thread < threads && before * threads >= documents_.tokens.size() * thread)
      shares_[thread++] = p;
  while (thread <= threads) shares_[thread++] = parts_.size();
}

/// The tokens stay where they are: only the sequences that they make are noted.
void PackWork::plan_concatenation() {
  const std::uint64_t all = documents_.tokens.size();
  planned_ = (all + length_ - 1) / length_;
  for (std::uint64_t at = 0; at < all; at += length_)
    parts_.push_back({at, at, std::min(length_, all - at)});
}

void PackWork::plan_best_fit() {
  pieces_.clear();
  std::ranges::fill(starts_, 0);
  for (std::size_t i = 0; i < documents_.size(); ++i)
    for (std::uint64_t at = documents_.begins[i]; at < documents_.begins[i + 1]; at += length_) {
      pieces_.push_back({at, std::min(length_, documents_.begins[i + 1] - at)});
      ++starts_[length_ - pieces_.back().tokens + 1];
    }
  // By length, the longest first, and in order among equals.
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  sorted_.resize(pieces_.size());
  for (const Piece& piece : pieces_) sorted_[starts_[length_ - piece.tokens]++] = piece;

  for (auto& sequences : open_) sequences.clear();
  std::ranges::fill(room_words_, 0);
  planned_ = 0;
  for (const Piece& piece : sorted_) {
    // The least room that is enough.
    std::size_t word = piece.tokens / 64;
    std::uint64_t bits = room_words_[word] & ~std::uint64_t{0} << piece.tokens % 64;
    while (bits == 0 && ++word < room_words_.size()) bits = room_words_[word];
    std::uint64_t room = length_;
    std::uint32_t sequence;
    if (bits == 0) {
      if (planned_ > std::numeric_limits<std::uint32_t>::max())
        throw Error(ErrorKind::input, "the documents need more than 2^32 sequences",
                    "prepare less text, or set the parameter sequence to more");
      sequence = static_cast<std::uint32_t>(planned_++);
    } else {
      room = 64 * word + static_cast<std::uint64_t>(std::countr_zero(bits));
      sequence = open_[room].back();
      open_[room].pop_back();
      if (open_[room].empty()) room_words_[room / 64] &= ~(std::uint64_t{1} << room % 64);
    }
    parts_.push_back({piece.from, (sequence + std::uint64_t{1}) * length_ - room, piece.tokens});
    const std::uint64_t left = room - piece.tokens;
    if (left == 0) continue;
    open_[left].push_back(sequence);
    room_words_[left / 64] |= std::uint64_t{1} << left % 64;
  }
}

void PackWork::copy() {
  const auto threads = static_cast<std::size_t>(pool_.size());
  pool_.run([&](int t) {
    const auto thread = static_cast<std::size_t>(t);
    for (std::size_t p = shares_[thread]; p < shares_[thread + 1]; ++p)
      std::memcpy(packed_.data() + parts_[p].to, documents_.tokens.data() + parts_[p].from,
                  parts_[p].tokens * sizeof(TokenId));
    if (packing_ == Packing::concatenate) {
      if (thread == 0 && !parts_.empty())
        std::fill(packed_.begin() + static_cast<std::ptrdiff_t>(documents_.tokens.size()),
                  packed_.end(), padding_);
      return;
    }
    // What is open when all are placed is the end of its sequence.
    for (std::uint64_t room = 1 + thread; room <= length_; room += threads)
      for (const std::uint32_t sequence : open_[room]) {
        TokenId* after = packed_.data() + (sequence + std::uint64_t{1}) * length_;
        std::fill(after - room, after, padding_);
      }
  });
}

double PackWork::padding_share() const {
  if (packed_.empty()) return 0.0;
  const auto all = static_cast<double>(packed_.size());
  return (all - static_cast<double>(documents_.tokens.size())) / all;
}

double PackWork::cut_share() const {
  if (documents_.size() == 0) return 0.0;
  std::vector<PackedPart> parts = parts_;
  std::ranges::sort(parts, {}, &PackedPart::from);
  std::uint64_t cut = 0;
  std::size_t p = 0;
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    const std::uint64_t begin = documents_.begins[i], end = documents_.begins[i + 1];
    if (begin == end) continue;
    while (p < parts.size() && parts[p].from + parts[p].tokens <= begin) ++p;
    for (std::size_t next = p + 1; next < parts.size() && parts[next].from < end; ++next)
      if (parts[next].to / length_ != parts[p].to / length_) {
        ++cut;
        break;
      }
  }
  return static_cast<double>(cut) / static_cast<double>(documents_.size());
}

/// Whether the part is where its packing allows it.
bool PackWork::is_allowed(const PackedPart& part) const {
  if (packing_ == Packing::concatenate) return part.to == part.from;
  const auto after = std::ranges::upper_bound(documents_.begins, part.from);
  const std::uint64_t begin = *(after - 1), end = *after;
  return (part.from - begin) % length_ == 0 && part.tokens == std::min(length_, end - part.from);
}

std::uint64_t PackWork::faults() const {
  std::uint64_t faults = 0;
  std::vector<std::uint8_t> used(documents_.tokens.size()), filled(packed_.size());
  for (const PackedPart& part : parts_) {
    if (part.tokens == 0 || part.tokens > used.size() || part.from > used.size() - part.tokens ||
        part.tokens > filled.size() || part.to > filled.size() - part.tokens ||
        part.to / length_ != (part.to + part.tokens - 1) / length_ || !is_allowed(part)) {
      ++faults;
      continue;
    }
    for (std::uint64_t i = 0; i < part.tokens; ++i) {
      if (used[part.from + i]++ != 0 || filled[part.to + i]++ != 0 ||
          packed_[part.to + i] != documents_.tokens[part.from + i])
        ++faults;
    }
  }
  faults += static_cast<std::uint64_t>(std::ranges::count(used, 0));
  for (std::size_t i = 0; i < filled.size(); ++i)
    if (filled[i] == 0 && packed_[i] != padding_) ++faults;
  return faults;
}

}  // namespace bench::preprocessing
