#include "tokenizer/bpe_training.h"

#include <fmt/format.h>

#include <cstdint>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "tokenizer/tokenizer.h"

namespace bench::tokenizer {
namespace {

/// In bytes. A longer piece, such as a line of dashes or base64, teaches little and takes long.
constexpr std::size_t kLongestTrained = 1024;

/// Different pieces of the text with their counts, and the pairs in them.
class PairCounts {
 public:
  explicit PairCounts(const std::unordered_map<std::string_view, std::int64_t>& pieces) {
    for (const auto& [piece, count] : pieces) {
      if (piece.size() < 2) continue;
      Word word{{}, count};
      for (const char c : piece) word.ids.push_back(static_cast<unsigned char>(c));
      words_.push_back(std::move(word));
    }
    for (std::uint32_t w = 0; w < words_.size(); ++w)
      for (std::size_t i = 0; i + 1 < words_[w].ids.size(); ++i)
        add(key(words_[w].ids[i], words_[w].ids[i + 1]), words_[w].count, w);
    for (const auto& [pair, entry] : pairs_) queue_.push({entry.count, pair});
  }

  struct Best {
    TokenId left = 0, right = 0;
    std::int64_t count = 0;  // 0: there is no pair
  };

  /// The most frequent pair, the lowest of equally frequent ones.
  Best best() {
    while (!queue_.empty()) {
      const auto [count, pair] = queue_.top();
      const std::int64_t now = pairs_.at(pair).count;
      if (now == count)
        return {static_cast<TokenId>(pair >> 32), static_cast<TokenId>(pair), count};
      queue_.pop();
      if (now > 0 && now < count) queue_.push({now, pair});
    }
    return {};
  }

  /// The pair is not offered any more.
  void drop(TokenId left, TokenId right) { pairs_.at(key(left, right)).count = kDropped; }

  void merge(TokenId left, TokenId right, TokenId result) {
    const std::uint64_t pair = key(left, right);
    const auto places = std::move(pairs_.at(pair).words);
    pairs_.at(pair).words.clear();
    std::unordered_set<std::uint64_t> grown;
    for (const std::uint32_t w : places) merge_in(w, left, right, result, grown);
    pairs_.at(pair).count = 0;
    for (const std::uint64_t changed : grown)
      if (const std::int64_t count = pairs_.at(changed).count; count > 0)
        queue_.push({count, changed});
  }

 private:
  static constexpr std::int64_t kDropped = -(std::int64_t{1} << 62);
  struct Word {
    std::vector<TokenId> ids;
    std::int64_t count;
  };
  struct Entry {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words = {};  // that have or had it
  };
  struct Queued {
    std::int64_t count;
    std::uint64_t pair;
    bool operator<(const Queued& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  static std::uint64_t key(TokenId left, TokenId right) {
    return std::uint64_t{left} << 32 | right;
  }

  void add(std::uint64_t pair, std::int64_t count, std::uint32_t word) {
    Entry& entry = pairs_[pair];
    entry.count += count;
    if (count > 0 && (entry.words.empty() || entry.words.back() != word))
      entry.words.push_back(word);
  }

  void merge_in(std::uint32_t w, TokenId left, TokenId right, TokenId result,
                std::unordered_set<std::uint64_t>& grown) {
    Word& word = words_[w];
    std::vector<TokenId>& ids = word.ids;
    std::size_t to = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i + 1 == ids.size() || ids[i] != left || ids[i + 1] != right) {
        ids[to++] = ids[i];
        continue;
      }
      if (to > 0) {
        add(key(ids[to - 1], left), -word.count, w);
        add(key(ids[to - 1], result), word.count, w);
        grown.insert(key(ids[to - 1], result));
      }
      if (i + 2 < ids.size()) {
        add(key(right, ids[i + 2]), -word.count, w);
        add(key(result, ids[i + 2]), word.count, w);
        grown.insert(key(result, ids[i + 2]));
      }
      ids[to++] = result;
      ++i;
    }
    ids.resize(to);
  }

  std::vector<Word> words_ = {};
  std::unordered_map<std::uint64_t, Entry> pairs_ = {};
  std::priority_queue<Queued> queue_ = {};
};

}  // namespace

TokenizerSpec train_bpe(const std::vector<std::string_view>& documents,
                        const TrainingOptions& options) {
  constexpr TokenId kBytes = 256;
  if (options.vocabulary < kBytes + 1 || options.vocabulary > kMostTokens)
    throw Error(ErrorKind::input, fmt::format("a vocabulary of {} tokens", options.vocabulary),
                "use at least 257: one for each byte, and one for the end of a text");
  TokenizerSpec spec;
  spec.origin = "trained vocabulary";
  spec.patterns = {options.pattern};
  for (unsigned byte = 0; byte < kBytes; ++byte)
    spec.tokens.emplace_back(1, static_cast<char>(byte));

  const Tokenizer bytes(spec);
  Encoder encoder(bytes);
  std::unordered_map<std::string_view, std::int64_t> pieces;
  for (const std::string_view document : documents)
    for (const std::string_view piece : encoder.pieces(document))
      if (piece.size() <= kLongestTrained) ++pieces[piece];
  PairCounts pairs(pieces);
  std::unordered_set<std::string> known(spec.tokens.begin(), spec.tokens.end());
  while (spec.tokens.size() + 1 < options.vocabulary) {
    const PairCounts::Best best = pairs.best();
    if (best.count < 2) break;
    const auto result = static_cast<TokenId>(spec.tokens.size());
    std::string token = spec.tokens[best.left] + spec.tokens[best.right];
    // Two pairs of the same bytes, or a token too long for a file: the pair stays as it is.
    if (token.size() > kLongestToken / 4 || !known.insert(token).second) {
      pairs.drop(best.left, best.right);
      continue;
    }
    spec.tokens.push_back(std::move(token));
    spec.merges.push_back(
        {best.left, best.right, result, static_cast<std::uint32_t>(spec.merges.size())});
    pairs.merge(best.left, best.right, result);
  }
  spec.added = {{static_cast<TokenId>(spec.tokens.size()), options.end_of_text, true}};
  return spec;
}

}  // namespace bench::tokenizer
