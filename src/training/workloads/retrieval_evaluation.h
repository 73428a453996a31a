// Recall@k and NDCG@k of a two-tower model's rankings of all items, next to those of the best
// rankings, for users that were not trained on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/sources/interaction_model.h"
#include "training/tables/click_batch.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// Sums over users. The second group does not depend on the model.
struct RankingSums {
  double users = 0.0;
  double recall = 0.0, ndcg = 0.0, cross_entropy = 0.0;
  double best_recall = 0.0, best_ndcg = 0.0, entropy = 0.0;
  double popular_recall = 0.0;  // of the items with the largest shares, for every user
};

/// The rankings by `users` (a row per user) and `items` (a row per item), both of `width` columns:
/// the score is the inner product. `kinds` has P(kind | user), a row per user. The most probable
/// items are the best ranking; the law's sums are computed only if `law`.
RankingSums rank_all(const InteractionModel& model, std::span<const float> users,
                     std::span<const double> kinds, std::span<const float> items,
                     std::int64_t width, bool law);

/// The gap of the model's expected recall@k to that of the most probable items, over users spread
/// evenly over the evaluation samples. The first samples supply the items. Parts:
///   ndcg, ndcg_gap                    expected NDCG@k, and what it lacks to that of the best
///                                     ranking
///   cross_entropy, cross_entropy_gap  of the softmax over all items, nats; the same minus the
///                                     entropy of the law, which is the least possible
///   popularity_gap                    the gap of ranking by popularity alone
/// Ranks exchange the items' vectors, and each ranks its own users.
class RetrievalEvaluation final : public Evaluation {
 public:
  /// Every `stride`th sample is a user to rank for. `batch` holds the samples that a lane has just
  /// evaluated; `vectors` are TwoTower::vectors. `law` keeps the law's sums from one evaluation to
  /// the next.
  RetrievalEvaluation(const InteractionModel& model, const ClickBatch& batch, Var vectors,
                      std::int64_t stride, RankingSums& law);

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override;
  /// Throws Error(input) if the samples were fewer than the items.
  Quality finish(Group& group) override;

 private:
  std::vector<float> all_items(Group& group) const;

  const InteractionModel& model_;
  const ClickBatch& batch_;
  Var vectors_;
  std::int64_t width_, stride_;
  RankingSums& law_;
  std::vector<float> users_ = {}, items_ = {};  // rows; of an item, its number and its vector
  std::vector<double> kinds_ = {};              // rows of P(kind | user)
};

}  // namespace bench::training
