#include "probes/preprocessing/tokenize_work.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "core/elements.h"
#include "core/parallel.h"
#include "core/sha256.h"
#include "probes/shared/permutation.h"

namespace bench::preprocessing {
namespace {

constexpr std::size_t kComparedPieces = 2000;   // of a document
constexpr std::size_t kLongestCompared = 2000;  // in bytes: the reference is quadratic

}  // namespace

TokenizeWork::TokenizeWork(const tokenizer::Tokenizer& tokenizer, const Corpus& corpus, int threads)
    : tokenizer_(tokenizer),
      corpus_(corpus),
      pool_(threads),
      ids_(corpus.text.size()),
      counts_(corpus.size()) {
  for (int t = 0; t < threads; ++t)
    encoders_.push_back(std::make_unique<tokenizer::Encoder>(tokenizer));
}

template <class Work>
void TokenizeWork::each_document(const Work& work) {
  next_ = 0;
  pool_.run([&](int thread) {
    tokenizer::Encoder& encoder = *encoders_[static_cast<std::size_t>(thread)];
    encoder.forget();
    for (;;) {
      const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= corpus_.size()) break;
      work(encoder, i);
    }
  });
}

void TokenizeWork::run(std::int64_t calls) {
  for (std::int64_t call = 0; call < calls; ++call)
    each_document([&](tokenizer::Encoder& encoder, std::size_t i) {
      counts_[i] = encoder.encode(corpus_.document(i), ids_.data() + corpus_.begins[i]);
    });
}

void TokenizeWork::split(std::int64_t calls) {
  for (std::int64_t call = 0; call < calls; ++call) {
    std::atomic<std::uint64_t> pieces{0};
    each_document([&](tokenizer::Encoder& encoder, std::size_t i) {
      pieces.fetch_add(encoder.split(corpus_.document(i)), std::memory_order_relaxed);
    });
    pieces_ = pieces;
  }
}

std::uint64_t TokenizeWork::tokens() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

tokenizer::PieceCounts TokenizeWork::counts() const {
  tokenizer::PieceCounts sum;
  for (const auto& encoder : encoders_) sum = sum + encoder->counts();
  return sum;
}

std::span<TokenId> TokenizeWork::ids(std::size_t document) {
  return {ids_.data() + corpus_.begins[document], counts_[document]};
}

std::uint64_t TokenizeWork::checksum() const {
  std::vector<std::uint64_t> sums(corpus_.size());
  in_parts(corpus_.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      sums[i] = tokens_checksum({ids_.data() + corpus_.begins[i], counts_[i]});
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t each : sums) sum = random_bits(sum, each);
  return sum;
}

TokenDocuments TokenizeWork::documents(std::optional<TokenId> end) const {
  TokenDocuments all;
  all.tokens.reserve(tokens() + corpus_.size());
  all.begins.reserve(corpus_.size() + 1);
  for (std::size_t i = 0; i < corpus_.size(); ++i) {
    const TokenId* first = ids_.data() + corpus_.begins[i];
    all.tokens.insert(all.tokens.end(), first, first + counts_[i]);
    if (end) all.tokens.push_back(*end);
    all.begins.push_back(all.tokens.size());
  }
  return all;
}

std::string TokenizeWork::sha256_of_ids() const {
  Sha256 digest;
  std::string bytes;
  for (std::size_t i = 0; i < corpus_.size(); ++i) {
    bytes.clear();
    for (std::uint64_t t = 0; t < counts_[i]; ++t)
      for (int shift = 0; shift < 32; shift += 8)
        bytes += static_cast<char>(ids_[corpus_.begins[i] + t] >> shift & 0xff);
    digest.update(bytes);
  }
  return digest.finish();
}

std::size_t TokenizeWork::undecodable() const {
  std::atomic<std::size_t> wrong{0};
  in_parts(corpus_.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      if (tokenizer_.decode({ids_.data() + corpus_.begins[i], counts_[i]}) != corpus_.document(i))
        ++wrong;
  });
  return wrong;
}

std::size_t TokenizeWork::unsplit() const {
  tokenizer::Encoder splitter(tokenizer_);
  std::size_t wrong = 0;
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < corpus_.size(); ++i) {
    std::string_view left = corpus_.document(i);
    for (const std::string_view piece : splitter.pieces(left)) {
      ++found;
      if (!left.starts_with(piece)) break;
      left.remove_prefix(piece.size());
    }
    if (!left.empty()) ++wrong;
  }
  return wrong + (found == pieces_ ? 0 : 1);
}

TokenizeWork::Comparison TokenizeWork::compare(const ReferenceBpe& reference, std::size_t count,
                                               std::uint64_t seed) const {
  tokenizer::Encoder splitter(tokenizer_);
  Comparison result;
  const Permutation drawn(corpus_.size(), seed);
  for (std::size_t n = 0; n < std::min(count, corpus_.size()); ++n) {
    const std::size_t i = drawn.at(n);
    if (!equals_reference(i, splitter.pieces(corpus_.document(i)), reference, result.pieces))
      ++result.differing;
  }
  return result;
}

bool TokenizeWork::equals_reference(std::size_t document,
                                    const std::vector<std::string_view>& pieces,
                                    const ReferenceBpe& reference, std::uint64_t& compared) const {
  std::span<const TokenId> left(ids_.data() + corpus_.begins[document], counts_[document]);
  const std::size_t count = std::min(pieces.size(), kComparedPieces);
  for (const std::string_view piece : std::span(pieces).first(count)) {
    const auto added = tokenizer_.added(piece);
    if (!added && piece.size() > kLongestCompared) {
      std::string text;
      for (; text.size() < piece.size() && !left.empty(); left = left.subspan(1))
        tokenizer_.decode(left[0], text);
      if (text != piece) return false;
      continue;
    }
    const auto expected = added ? std::vector{*added} : reference.encode(piece);
    ++compared;
    if (expected.size() > left.size() || !std::ranges::equal(expected, left.first(expected.size())))
      return false;
    left = left.subspan(expected.size());
  }
  return count < pieces.size() || left.empty();
}

void TokenizeWork::spoil() {
  for (std::size_t i = 0; i < corpus_.size(); ++i)
    if (counts_[i] > 0) ids_[corpus_.begins[i]] = tokenizer::kMostTokens;
  std::ranges::fill(counts_, 0);
  pieces_ = 0;
}

}  // namespace bench::preprocessing
