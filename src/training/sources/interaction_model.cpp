#include "training/sources/interaction_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace bench::training {
namespace {

/// Streams of the law: vectors of (feature, ID), of genres and formats, and the kinds' order.
enum LawStream : std::uint64_t { kGenres = 1, kFormats, kOrder, kUserFeatures };
/// Evaluation users over whom shares of kinds are averaged: no evaluation reads so far.
constexpr std::uint64_t kShareUsers = std::uint64_t{1} << 48;
/// Numbers of a sample's stream.
enum Word : std::uint64_t { kKindWord, kItemWord, kUserWords };

RandomStream law_stream(std::uint64_t law, std::uint64_t what, std::uint64_t id) {
  return random_stream(law, what << 40 | id);
}

void check_options(const InteractionOptions& options) {
  const std::int64_t kinds = std::int64_t{options.genres} * options.formats;
  if (options.user_rows.size() < 2 ||
      std::ranges::any_of(options.user_rows, [](std::int64_t rows) { return rows < 2; }) ||
      !rows_fit(options.user_rows))
    throw Error(ErrorKind::usage,
                fmt::format("{} user features, or one with too few or too many rows",
                            options.user_rows.size()),
                "use at least two user features of 2 to 2147483647 rows");
  if (kinds < 2 || options.formats < 2 || options.items < 2 * kinds || options.items % kinds != 0)
    throw Error(ErrorKind::usage,
                fmt::format("{} items of {} genres and {} formats", options.items, options.genres,
                            options.formats),
                "use two formats or more, and a multiple of genres x formats items");
}

}  // namespace

InteractionOptions tiny_interactions() {
  InteractionOptions options;
  options.user_rows = {200, 100, 50, 20};
  options.items = 2048;
  options.genres = 32;
  options.formats = 4;
  return options;
}

InteractionOptions small_interactions() {
  InteractionOptions options;
  options.user_rows = {1'000'000, 200'000, 10'000, 1'000, 100, 10};
  options.items = 102'400;
  options.genres = 128;
  options.formats = 8;
  return options;
}

InteractionOptions standard_interactions() {
  InteractionOptions options;
  options.user_rows = {20'000'000, 2'000'000, 200'000, 20'000, 2'000, 1'000, 100, 10};
  options.items = 1'048'576;
  options.genres = 256;
  options.formats = 8;
  return options;
}

InteractionModel::InteractionModel(const InteractionOptions& options)
    : options_(options),
      kinds_(options.genres * options.formats),
      members_(static_cast<std::size_t>(kinds_ > 0 ? options.items / kinds_ : 0)) {
  check_options(options_);
  shape_.dense = 1;
  shape_.rows = options_.user_rows;
  for (const std::int64_t rows : options_.user_rows)
    user_ranks_.emplace_back(static_cast<std::uint32_t>(rows), options_.user_exponent);
  shape_.rows.push_back(options_.items);
  shape_.rows.push_back(options_.formats);
  shape_.lookups.assign(shape_.rows.size(), 1);
  make_items();
  make_characters();
  measure_kind_shares();
}

/// Every `kinds` consecutive items are one of each kind, rotated at random from one such group to
/// the next, so that no kind has all the popular items.
int InteractionModel::kind_of(std::int64_t item) const {
  const auto turn = law_stream(options_.law, kOrder, static_cast<std::uint64_t>(item / kinds_));
  return static_cast<int>((item + below(turn.bits32(0), static_cast<std::uint32_t>(kinds_))) %
                          kinds_);
}

std::int64_t InteractionModel::item_of(int kind, std::int64_t member) const {
  const auto turn = law_stream(options_.law, kOrder, static_cast<std::uint64_t>(member));
  const std::int64_t rotated =
      kind - static_cast<std::int64_t>(below(turn.bits32(0), static_cast<std::uint32_t>(kinds_)));
  return member * kinds_ + (rotated + kinds_) % kinds_;
}

void InteractionModel::make_items() {
  const std::int64_t members = options_.items / kinds_;
  shares_.resize(static_cast<std::size_t>(options_.items));
  std::vector<double> popularity(static_cast<std::size_t>(members));
  for (int kind = 0; kind < kinds_; ++kind) {
    double sum = 0.0;
    for (std::int64_t member = 0; member < members; ++member) {
      const auto rank = static_cast<double>(item_of(kind, member) + 1);
      sum += popularity[static_cast<std::size_t>(member)] = std::pow(rank, -options_.item_exponent);
    }
    popularities_.push_back(std::log(sum));
    const std::vector<std::uint32_t> weights = exact_weights(popularity);
    members_.add(weights);
    for (std::int64_t member = 0; member < members; ++member)
      shares_[static_cast<std::size_t>(item_of(kind, member))] =
          weights[static_cast<std::size_t>(member)] * 0x1p-32;
  }
}

void InteractionModel::make_characters() {
  const double scale = options_.affinity / std::sqrt(2.0 * kTastes);
  for (std::uint64_t k = 0; k < kTastes; ++k)
    for (int kind = 0; kind < kinds_; ++kind) {
      const auto genre = static_cast<std::uint64_t>(kind / options_.formats);
      const auto format = static_cast<std::uint64_t>(kind % options_.formats);
      characters_.push_back(scale *
                            (random_normal(law_stream(options_.law, kGenres, genre).key, k) +
                             random_normal(law_stream(options_.law, kFormats, format).key, k)));
    }
}

void InteractionModel::measure_kind_shares() {
  std::vector<double> probabilities(static_cast<std::size_t>(kinds_));
  std::vector<std::int32_t> user(user_ranks_.size());
  kind_shares_.assign(probabilities.size(), 0.0);
  for (std::int64_t i = 0; i < options_.share_users; ++i) {
    draw_user(
        sample_stream(options_.law, Split::evaluation, kShareUsers + static_cast<std::uint64_t>(i)),
        user.data());
    kind_probabilities(user.data(), probabilities);
    for (std::size_t kind = 0; kind < probabilities.size(); ++kind)
      kind_shares_[kind] += probabilities[kind] / static_cast<double>(options_.share_users);
  }
}

void InteractionModel::draw_user(RandomStream stream, std::int32_t* user) const {
  for (std::size_t f = 0; f < user_ranks_.size(); ++f)
    user[f] = static_cast<std::int32_t>(user_ranks_[f].view().draw(stream.bits(kUserWords + f)));
}

void InteractionModel::kind_probabilities(const std::int32_t* user,
                                          std::span<double> probabilities) const {
  double taste[kTastes] = {}, first[kTastes] = {};
  const double share = 1.0 / std::sqrt(static_cast<double>(user_ranks_.size()));
  for (std::size_t f = 0; f < user_ranks_.size(); ++f) {
    const RandomStream stream =
        law_stream(options_.law, kUserFeatures + f, static_cast<std::uint64_t>(user[f]));
    for (int k = 0; k < kTastes; ++k) {
      const double own = random_normal(stream.key, static_cast<std::uint64_t>(k));
      taste[k] += share * own;
      if (f == 0) first[k] = own;
      if (f == 1) taste[k] += options_.product * first[k] * own;
    }
  }
  std::ranges::copy(popularities_, probabilities.begin());
  for (int k = 0; k < kTastes; ++k) {
    const double* character = characters_.data() + static_cast<std::ptrdiff_t>(k) * kinds_;
    for (int kind = 0; kind < kinds_; ++kind)
      probabilities[static_cast<std::size_t>(kind)] += taste[k] * character[kind];
  }
  const double largest = *std::ranges::max_element(probabilities);
  double sum = 0.0;
  for (double& p : probabilities) sum += p = std::exp(p - largest);
  for (double& p : probabilities) p /= sum;
}

void InteractionModel::read(Split split, std::uint64_t index, ClickSample& sample) const {
  check_fits(sample, shape_);
  thread_local std::vector<double> probabilities;
  probabilities.resize(static_cast<std::size_t>(kinds_));
  const bool training = split == Split::train;
  const RandomStream stream = sample_stream(training ? options_.seed : options_.law, split, index);
  draw_user(stream, sample.ids.data());
  kind_probabilities(sample.ids.data(), probabilities);
  auto item = static_cast<std::int64_t>(index % static_cast<std::uint64_t>(options_.items));
  if (training) {
    double left = uniform(stream.bits(kKindWord));
    int kind = 0;
    for (; kind < kinds_ - 1; ++kind)
      if ((left -= probabilities[static_cast<std::size_t>(kind)]) < 0.0) break;
    item = item_of(kind,
                   members_.view().draw(static_cast<std::size_t>(kind), stream.bits32(kItemWord)));
  }
  const std::size_t users = user_ranks_.size();
  sample.ids[users] = static_cast<std::int32_t>(item);
  sample.ids[users + 1] = static_cast<std::int32_t>(kind_of(item) % options_.formats);
  sample.dense[0] = static_cast<float>(-std::log(share(item)));
  sample.label = 1.0f;
  sample.probability = probabilities[static_cast<std::size_t>(kind_of(item))] * share_in_kind(item);
}

}  // namespace bench::training
