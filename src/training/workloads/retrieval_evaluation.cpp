#include "training/workloads/retrieval_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "training/sources/ranking.h"
#include "training/tables/rank_exchange.h"
#include "training/workloads/two_tower.h"

namespace bench::training {
namespace {

constexpr std::size_t kItemsAtOnce = 2048;  // their scores for one user stay in the level 1 cache

/// Row-major [rows, columns] -> [columns, rows], so that scores are sums over contiguous items.
std::vector<float> transposed(std::span<const float> matrix, std::size_t columns) {
  const std::size_t rows = matrix.size() / columns;
  std::vector<float> result(matrix.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < columns; ++k) result[k * rows + i] = matrix[i * columns + k];
  return result;
}

void score(std::span<const float> user, std::span<const float> items, std::span<float> scores) {
  const std::size_t count = scores.size();
  for (std::size_t from = 0; from < count; from += kItemsAtOnce) {
    const std::size_t some = std::min(kItemsAtOnce, count - from);
    float* out = scores.data() + from;
    std::fill_n(out, some, 0.0f);
    for (std::size_t k = 0; k < user.size(); ++k) {
      const float* column = items.data() + k * count + from;
      for (std::size_t i = 0; i < some; ++i) out[i] += user[k] * column[i];
    }
  }
}

/// -sum of p log softmax(scores).
double cross_entropy_of(std::span<const float> scores, std::span<const double> probabilities) {
  const float largest = *std::ranges::max_element(scores);
  double sum = 0.0, mean = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const float above = scores[i] - largest;
    sum += static_cast<double>(std::exp(above));
    mean += probabilities[i] * static_cast<double>(above);
  }
  return std::log(sum) - mean;
}

double entropy_of(std::span<const double> probabilities) {
  double sum = 0.0;
  for (const double p : probabilities)
    if (p > 0.0) sum -= p * std::log(p);
  return sum;
}

void add_law(RankingSums& sums, std::span<const double> probabilities,
             std::span<const std::int32_t> popular) {
  const RankingWorth best = expected_worth(top_items(probabilities, kRanked), probabilities);
  sums.best_recall += best.recall;
  sums.best_ndcg += best.ndcg;
  sums.entropy += entropy_of(probabilities);
  sums.popular_recall += expected_worth(popular, probabilities).recall;
}

constexpr std::array kSums = {&RankingSums::users,       &RankingSums::recall,
                              &RankingSums::ndcg,        &RankingSums::cross_entropy,
                              &RankingSums::best_recall, &RankingSums::best_ndcg,
                              &RankingSums::entropy,     &RankingSums::popular_recall};

RankingSums over_ranks(Group& group, const RankingSums& own) {
  std::vector<double> numbers;
  for (const auto member : kSums) numbers.push_back(own.*member);
  const std::vector<double> all = gather_numbers(group, numbers);
  RankingSums sums;
  for (std::size_t i = 0; i < all.size(); ++i) sums.*kSums[i % kSums.size()] += all[i];
  return sums;
}

}  // namespace

RankingSums rank_all(const InteractionModel& model, std::span<const float> users,
                     std::span<const double> kinds, std::span<const float> items,
                     std::int64_t width, bool law) {
  const auto columns = static_cast<std::size_t>(width);
  const auto count = static_cast<std::size_t>(model.items());
  const auto kinds_each = static_cast<std::size_t>(model.kinds());
  const std::vector<float> by_column = transposed(items, columns);
  std::vector<std::size_t> kind_of(count);
  std::vector<double> in_kind(count), shares(count), probabilities(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto item = static_cast<std::int64_t>(i);
    kind_of[i] = static_cast<std::size_t>(model.kind_of(item));
    in_kind[i] = model.share_in_kind(item);
    shares[i] = model.share(item);
  }
  const std::vector<std::int32_t> popular = top_items(shares, kRanked);
  std::vector<float> scores(count);
  RankingSums sums;
  for (std::size_t user = 0; user * columns < users.size(); ++user) {
    const std::span<const double> of_kind = kinds.subspan(user * kinds_each, kinds_each);
    for (std::size_t i = 0; i < count; ++i) probabilities[i] = of_kind[kind_of[i]] * in_kind[i];
    score(users.subspan(user * columns, columns), by_column, scores);
    const RankingWorth worth = expected_worth(top_items(scores, kRanked), probabilities);
    sums.users += 1.0;
    sums.recall += worth.recall;
    sums.ndcg += worth.ndcg;
    sums.cross_entropy += cross_entropy_of(scores, probabilities);
    if (law) add_law(sums, probabilities, popular);
  }
  return sums;
}

RetrievalEvaluation::RetrievalEvaluation(const InteractionModel& model, const ClickBatch& batch,
                                         Var vectors, std::int64_t stride, RankingSums& law)
    : model_(model),
      batch_(batch),
      vectors_(vectors),
      width_(vectors.shape().columns() / 2),
      stride_(stride),
      law_(law) {}

void RetrievalEvaluation::add(const Lane& lane, std::uint64_t first, std::int64_t count) {
  const View vectors = lane.view(vectors_);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t number = first + static_cast<std::uint64_t>(i);
    const float* user = vectors.as<float>() + i * vectors.columns;
    const float* item = user + width_;
    if (number < static_cast<std::uint64_t>(model_.items())) {
      items_.push_back(static_cast<float>(number));
      items_.insert(items_.end(), item, item + width_);
    }
    if (number % static_cast<std::uint64_t>(stride_) != 0) continue;
    users_.insert(users_.end(), user, user + width_);
    kinds_.resize(kinds_.size() + static_cast<std::size_t>(model_.kinds()));
    model_.kind_probabilities(batch_.ids(batch_.place(Split::evaluation, number)),
                              std::span(kinds_).last(static_cast<std::size_t>(model_.kinds())));
  }
}

/// In the order of their numbers. Ranks may have different numbers of items: missing ones are sent
/// with a negative number.
std::vector<float> RetrievalEvaluation::all_items(Group& group) const {
  const auto row = static_cast<std::size_t>(width_) + 1;
  const auto items = static_cast<std::size_t>(model_.items());
  std::vector<float> sent = items_;
  sent.resize(static_cast<std::size_t>(largest(group, static_cast<double>(sent.size()))), -1.0f);
  const std::vector<float> came = gather_all(group, sent);
  std::vector<float> all(items * (row - 1));
  std::size_t found = 0;
  for (std::size_t at = 0; at < came.size(); at += row) {
    if (came[at] < 0.0f) continue;
    std::copy_n(
        came.begin() + static_cast<std::ptrdiff_t>(at) + 1, row - 1,
        all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(came[at]) * (row - 1)));
    ++found;
  }
  if (found != items)
    throw Error(ErrorKind::input,
                fmt::format("the evaluation samples have {} of {} items", found, items),
                "evaluate as many samples as there are items, or more");
  return all;
}

Quality RetrievalEvaluation::finish(Group& group) {
  const bool law = law_.users == 0.0;
  const RankingSums sums =
      over_ranks(group, rank_all(model_, users_, kinds_, all_items(group), width_, law));
  if (law) law_ = sums;
  const auto mean = [&](double sum) { return sum / sums.users; };
  const double entropy = mean(law_.entropy), cross_entropy = mean(sums.cross_entropy);
  Quality quality;
  quality.native = mean(sums.recall);
  quality.floor = mean(law_.best_recall);
  quality.gap = quality.floor - quality.native;
  quality.parts = {{"ndcg", mean(sums.ndcg)},
                   {"ndcg_gap", mean(law_.best_ndcg) - mean(sums.ndcg)},
                   {"cross_entropy", cross_entropy},
                   {"cross_entropy_gap", cross_entropy - entropy},
                   {"popularity_gap", quality.floor - mean(law_.popular_recall)}};
  return quality;
}

}  // namespace bench::training
