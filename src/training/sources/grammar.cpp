#include "training/sources/grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "training/sources/zipf.h"

namespace bench::training {
namespace {

// Streams of the language's seed.
enum : std::uint64_t { kLastFactors, kBeforeFactors, kNextFactors, kMembers, kDialectFactors };

constexpr std::uint32_t kRank = 6;
constexpr double kScale = 1.6;       // weight of the factors in the logits
constexpr double kBeforePart = 0.8;  // weight of the second last symbol relative to the last
constexpr double kAnchorBias = 1.2;  // anchors are frequent, so that most keys find one
constexpr double kZipfBias = 0.3;
constexpr double kMemberExponent = 0.75;
constexpr std::uint32_t kMostSlots = 16;

using Factors = std::vector<std::array<double, kRank>>;

Factors factors(std::uint64_t language, std::uint64_t stream) {
  Factors made(kSymbols);
  std::uint64_t index = 0;
  for (auto& row : made)
    for (double& value : row) value = normal(random_stream(language, stream), index++);
  return made;
}

/// The factors of the last symbol, the first `redrawn` of them those of the dialect.
Factors last_factors(std::uint64_t language, int redrawn) {
  Factors made = factors(language, kLastFactors);
  const Factors other = factors(language, kDialectFactors);
  for (std::size_t symbol = 0; symbol < made.size(); ++symbol)
    std::copy_n(other[symbol].begin(), redrawn, made[symbol].begin());
  return made;
}

double bias(std::uint32_t symbol) {
  return (symbol < kFirstWord ? kAnchorBias : 0) - kZipfBias * std::log(symbol);
}

std::uint32_t pattern_count(double probability) {
  return static_cast<std::uint32_t>(probability * 0x1p32);
}

void check_language(const GrammarOptions& options) {
  if (options.vocabulary < static_cast<int>(kSymbols) || options.vocabulary > 1 << 24)
    throw Error(ErrorKind::usage, fmt::format("invalid vocabulary: {} tokens", options.vocabulary),
                "use 64 to 16777216 for the generated language");
  if (options.targets < 1)
    throw Error(ErrorKind::usage,
                fmt::format("invalid sequence length: {} targets", options.targets),
                "use at least 1");
  if (options.redrawn_factors < 0 || options.redrawn_factors > static_cast<int>(kRank))
    throw Error(ErrorKind::usage,
                fmt::format("invalid dialect: {} redrawn factors", options.redrawn_factors),
                fmt::format("use 0 to {}", kRank));
  for (const double p : {options.begin_copy, options.end_copy})
    if (!(p >= 0 && p < 1))
      throw Error(ErrorKind::usage,
                  fmt::format("invalid probability to begin or end a copy: {}", p),
                  "use a value from 0 to below 1");
}

}  // namespace

GrammarSource::GrammarSource(const GrammarOptions& options) : options_(options) {
  check_language(options);
  tables_.members =
      (static_cast<std::uint32_t>(options.vocabulary) - kFirstWord) / (kSymbols - kFirstWord);
  tables_.begin_copy = pattern_count(options.begin_copy);
  tables_.end_copy = pattern_count(options.end_copy);
  make_symbols();
  if (tables_.members > 1) make_members();
}

void GrammarSource::make_symbols() {
  const Factors last = last_factors(options_.language, options_.redrawn_factors);
  const Factors before = factors(options_.language, kBeforeFactors);
  const Factors next = factors(options_.language, kNextFactors);
  for (std::uint32_t b = 0; b < kSymbols; ++b)
    for (std::uint32_t a = 0; a < kSymbols; ++a) {
      std::array<double, kSymbols> proportions{};  // zero for COPY and END
      for (std::uint32_t x = kFirstAnchor; x < kSymbols; ++x) {
        double dot = 0;
        for (std::uint32_t k = 0; k < kRank; ++k)
          dot += (last[a][k] + kBeforePart * before[b][k]) * next[x][k];
        proportions[x] = std::exp(kScale / std::sqrt(kRank) * dot + bias(x));
      }
      const auto weights = exact_weights(proportions);
      symbols_.add(weights);
      symbol_weights_.insert(symbol_weights_.end(), weights.begin(), weights.end());
    }
  tables_.symbols = symbols_.view();
  tables_.symbol_weights = symbol_weights_.data();
}

void GrammarSource::make_members() {
  tables_.slot_count = std::min(kMostSlots, tables_.members);
  std::vector<double> proportions;
  for (std::uint32_t slot = 0; slot < tables_.slot_count; ++slot)
    proportions.push_back(1 / (slot + 1.0));
  slot_weights_ = exact_weights(proportions);
  slots_ = std::make_unique<AliasTable>(slot_weights_.size());
  slots_->add(slot_weights_);
  // Members with low numbers come first after many tokens, so that tokens follow Zipf's law too.
  const Zipf ranks(tables_.members, kMemberExponent);
  const RandomStream stream = random_stream(options_.language, kMembers);
  for (std::uint32_t i = 0; i < kSymbols * kGroups; ++i)
    first_member_.push_back(ranks.view().draw(stream.bits(i)));
  tables_.slots = slots_->view();
  tables_.slot_weights = slot_weights_.data();
  tables_.first_member = first_member_.data();
}

void GrammarSource::read(Split split, std::uint64_t index, const TokenSample& sample) const {
  check_fits(sample, options_.targets, true);
  const std::uint64_t seed = split == Split::evaluation ? options_.language : options_.seed;
  const RandomStream stream = sample_stream(seed, split, index);
  GrammarState state;
  std::int32_t* tokens = sample.tokens.data();
  for (std::size_t t = 0; t < sample.tokens.size(); ++t) {
    const std::uint64_t more = tables_.members > 1 ? stream.bits(2 * t + 1) : 0;
    const std::int32_t token = draw(tables_, state, tokens, stream.bits(2 * t), more);
    if (t > 0 && !sample.classes.empty()) sample.classes[t - 1] = state.token_class();
    if (t > 0 && !sample.log_probability.empty())
      sample.log_probability[t - 1] =
          static_cast<float>(std::log(probability(tables_, state, tokens, token)));
    tokens[t] = token;
    state.add(token);
  }
}

}  // namespace bench::training
