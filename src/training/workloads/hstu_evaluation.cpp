#include "training/workloads/hstu_evaluation.h"

#include <algorithm>
#include <cmath>

#include "core/elements.h"
#include "training/sources/auc.h"
#include "training/tables/rank_exchange.h"

namespace bench::training {
namespace {

constexpr float kFirstLateEvent = 16.0F;

/// -log of the probability of `action`, where `score` is the log-odds of 1.
double action_loss(double score, double action) {
  return std::max(score, 0.0) - action * score + std::log1p(std::exp(-std::abs(score)));
}

double probability_of(double score) { return 1.0 / (1.0 + std::exp(-score)); }

float score_of(double probability) {
  return static_cast<float>(std::log(probability) - std::log1p(-probability));
}

}  // namespace

const KnownHistories::Known& KnownHistories::of(const HistorySource& source, std::uint64_t index) {
  const auto [at, is_new] = known_.try_emplace(index);
  if (is_new) {
    History history;
    source.read(Split::evaluation, index, history);
    at->second = {history.actions, source.truth(history)};
  }
  return at->second;
}

void HstuEvaluation::add(const Lane& lane, std::uint64_t first, std::int64_t count) {
  const View logits = lane.view(logits_);
  std::vector<double> scores(static_cast<std::size_t>(events_));
  for (std::int64_t i = 0; i < count; ++i) {
    const View rows = rows_of(logits, i * events_, events_);
    decode(rows.as<std::byte>(), rows.dtype, false, scores);
    const auto& [actions, truth] = known_.of(source_, first + static_cast<std::uint64_t>(i));
    for (std::size_t event = 0; event < actions.size(); ++event) {
      mine_[kScore].push_back(static_cast<float>(scores[event]));
      mine_[kTruth].push_back(score_of(truth.best[event]));
      mine_[kNoHistory].push_back(score_of(truth.without_history[event]));
      mine_[kConstant].push_back(score_of(truth.constant_taste[event]));
      mine_[kAction].push_back(static_cast<float>(actions[event]));
      mine_[kPosition].push_back(static_cast<float>(event));
    }
  }
}

/// Ranks may have different numbers of events: missing ones are sent as NaN, and have no action.
/// NaN scores remain for the AUC to refuse.
HstuEvaluation::Columns HstuEvaluation::gathered(Group& group) const {
  const double most = largest(group, static_cast<double>(mine_[kScore].size()));
  Columns all;
  for (std::size_t i = 0; i < kColumns; ++i) {
    std::vector<float> sent = mine_[i];
    sent.resize(static_cast<std::size_t>(most), std::nanf(""));
    all[i] = gather_all(group, sent);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all[kAction].size(); ++i) {
    if (std::isnan(all[kAction][i])) continue;
    for (auto& column : all) column[kept] = column[i];
    ++kept;
  }
  for (auto& column : all) column.resize(kept);
  return all;
}

void HstuEvaluation::refer_to(const Columns& all, const std::vector<double>& probabilities) {
  if (references_.events == probabilities.size()) return;
  references_ = {probabilities.size(), expected_auc(all[kTruth], probabilities),
                 expected_auc(all[kNoHistory], probabilities),
                 expected_auc(all[kConstant], probabilities)};
}

Quality HstuEvaluation::finish(Group& group) {
  const Columns all = gathered(group);
  std::vector<double> probabilities, late;
  std::vector<float> late_scores, late_truths;
  double loss = 0.0, least_loss = 0.0, predicted = 0.0, expected = 0.0;
  for (std::size_t i = 0; i < all[kScore].size(); ++i) {
    const double score = all[kScore][i], truth = all[kTruth][i], action = all[kAction][i];
    probabilities.push_back(probability_of(truth));
    loss += action_loss(score, action);
    least_loss += action_loss(truth, action);
    predicted += probability_of(score);
    expected += probabilities.back();
    if (all[kPosition][i] < kFirstLateEvent) continue;
    late.push_back(probabilities.back());
    late_scores.push_back(all[kScore][i]);
    late_truths.push_back(all[kTruth][i]);
  }
  refer_to(all, probabilities);
  const auto count = static_cast<double>(probabilities.size());
  Quality quality;
  quality.native = expected_auc(all[kScore], probabilities);
  quality.floor = references_.best;
  quality.gap = quality.floor - quality.native;
  quality.parts = {{"log_loss", loss / count},
                   {"log_loss_gap", (loss - least_loss) / count},
                   {"calibration", predicted / expected},
                   {"late_gap", expected_auc(late_truths, late) - expected_auc(late_scores, late)},
                   {"no_history_gap", quality.floor - references_.without_history},
                   {"constant_taste_gap", quality.floor - references_.constant_taste}};
  return quality;
}

}  // namespace bench::training
