// Endless interactions of users with items under a known law: P(item | user) is a softmax over all
// items of log(popularity of the item) + <taste of the user, character of the item>, so the best
// ranking of the items for each user is known.
//
// The character of an item depends on its kind only: a genre, which the model has to discover, and
// a format, which is a feature. That is what makes a draw cheap with any number of items: a kind is
// drawn from the softmax over kinds, whose scores are log(popularity of all its items) + <taste,
// character>, and then an item of that kind by popularity, which is the same distribution. Items
// are numbered by popularity. A taste is a sum of one vector per user feature and the elementwise
// product of the first two features' vectors, so that a tower without hidden layers falls short.
//
// A sample has a table for each user feature, one of items and one of formats; its only dense
// feature is -log of the item's share of all interactions, which corrects a softmax over the items
// of a batch (docs/workloads/two_tower.md). An evaluation sample is a user without an interaction:
// sample i has the features of user i and, so that all items are evaluated once, item i mod items.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "training/sources/alias_table.h"
#include "training/sources/click_source.h"
#include "training/sources/random.h"
#include "training/sources/zipf.h"

namespace bench::training {

struct InteractionOptions {
  std::vector<std::int64_t> user_rows = {};  // of each user feature's table
  std::int64_t items = 0;                    // a multiple of genres x formats, at least twice it
  int genres = 0, formats = 0;
  std::uint64_t law = 1;             // of interactions and evaluation users
  std::uint64_t seed = 1;            // of training samples
  double user_exponent = 0.9;        // of Zipf's law of user features
  double item_exponent = 0.7;        // of the items' popularity
  double affinity = 2.0;             // deviation of <taste, character>, without the product
  double product = 0.7;              // of the first two features in a taste
  std::int64_t share_users = 65536;  // over whom shares of kinds are averaged
};

/// 2,048 items of 32 genres and 4 formats, 4 user features of 370 rows in total.
InteractionOptions tiny_interactions();
/// 102,400 items of 128 genres and 8 formats, 6 user features of 1.2 M rows in total.
InteractionOptions small_interactions();
/// 1,048,576 items of 256 genres and 8 formats, 8 user features of 22 M rows in total.
InteractionOptions standard_interactions();

class InteractionModel final : public ClickSource {
 public:
  /// Throws Error(usage) for fewer than two user features or two rows of one, or a number of items
  /// that kinds do not divide.
  explicit InteractionModel(const InteractionOptions& options);

  const ClickShape& shape() const override { return shape_; }
  std::optional<std::uint64_t> size(Split) const override { return std::nullopt; }
  bool has_oracle() const override { return true; }
  /// The label is 1; `probability` is P(item | user).
  void read(Split split, std::uint64_t index, ClickSample& sample) const override;

  std::int64_t items() const { return options_.items; }
  int kinds() const { return kinds_; }
  int kind_of(std::int64_t item) const;
  /// Of an item among those of its kind.
  double share_in_kind(std::int64_t item) const { return shares_[static_cast<std::size_t>(item)]; }
  /// Of an item among all interactions: the mean of P(item | user) over users.
  double share(std::int64_t item) const {
    return kind_shares_[static_cast<std::size_t>(kind_of(item))] * share_in_kind(item);
  }
  /// P(kind | user), from the IDs of the user's features; P(item | user) is that of the item's kind
  /// times share_in_kind(item).
  void kind_probabilities(const std::int32_t* user, std::span<double> probabilities) const;

 private:
  static constexpr int kTastes = 8;  // dimensions of tastes and characters

  void make_items();
  void make_characters();
  void measure_kind_shares();
  void draw_user(RandomStream stream, std::int32_t* user) const;
  std::int64_t item_of(int kind, std::int64_t member) const;

  InteractionOptions options_;
  int kinds_;
  ClickShape shape_ = {};
  std::vector<Zipf> user_ranks_ = {};
  AliasTable members_;                     // a row per kind
  std::vector<double> shares_ = {};        // by item, in its kind
  std::vector<double> popularities_ = {};  // by kind, logarithms
  std::vector<double> characters_ = {};    // by dimension, then kind
  std::vector<double> kind_shares_ = {};
};

}  // namespace bench::training
