#include "probes/training/workloads/dlrm_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "probes/training/sources/auc.h"
#include "probes/training/tables/rank_exchange.h"

namespace bench::training {
namespace {

double logistic(double score) { return 1.0 / (1.0 + std::exp(-score)); }

/// -log of the probability of `label`, where `score` is the log-odds of 1.
double log_loss(double score, double label) {
  return std::max(score, 0.0) - label * score + std::log1p(std::exp(-std::abs(score)));
}

double log_odds(double probability) { return std::log(probability) - std::log1p(-probability); }

/// Columns of one number a sample.
enum Column : std::size_t { kScore, kTruth, kMainEffects, kLabel, kColumns };
using Columns = std::array<std::vector<float>, kColumns>;

/// Mean log-loss of the labels, and the mean of the probabilities that `scores` are log-odds of.
struct Prediction {
  double loss = 0.0, click_rate = 0.0;
};
Prediction prediction_of(const std::vector<float>& scores, const std::vector<float>& labels) {
  Prediction mean;
  const auto count = static_cast<double>(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    mean.loss += log_loss(scores[i], labels[i]) / count;
    mean.click_rate += logistic(scores[i]) / count;
  }
  return mean;
}

Quality against_truth(const Columns& all, ClickConstants& constants) {
  std::vector<double> probabilities;
  for (const float truth : all[kTruth]) probabilities.push_back(logistic(truth));
  if (constants.samples != probabilities.size())
    constants = {probabilities.size(), expected_auc(all[kTruth], probabilities),
                 expected_auc(all[kMainEffects], probabilities)};
  const Prediction model = prediction_of(all[kScore], all[kLabel]);
  const Prediction truth = prediction_of(all[kTruth], all[kLabel]);
  Quality quality;
  quality.native = expected_auc(all[kScore], probabilities);
  quality.floor = constants.auc;
  quality.gap = quality.floor - quality.native;
  quality.parts = {{"log_loss", model.loss},
                   {"log_loss_gap", model.loss - truth.loss},
                   {"calibration", model.click_rate / truth.click_rate},
                   {"main_effects_gap", quality.floor - constants.main_effects}};
  return quality;
}

/// Only labels are known: the bound is an AUC of 1.
Quality against_labels(const Columns& all) {
  const std::vector<double> labels(all[kLabel].begin(), all[kLabel].end());
  const double count = static_cast<double>(labels.size());
  const double clicks = std::accumulate(labels.begin(), labels.end(), 0.0);
  if (clicks == 0.0 || clicks == count)
    throw Error(ErrorKind::input,
                fmt::format("AUC is undefined: {} of {} evaluation samples are clicks", clicks,
                            labels.size()),
                "evaluate on a log with both clicks and non-clicks");
  const Prediction model = prediction_of(all[kScore], all[kLabel]);
  const double rate = clicks / count;
  const double entropy = -rate * std::log(rate) - (1.0 - rate) * std::log1p(-rate);
  Quality quality;
  quality.native = expected_auc(all[kScore], labels);
  quality.floor = 1.0;
  quality.gap = quality.floor - quality.native;
  quality.parts = {{"log_loss", model.loss},
                   {"normalized_entropy", model.loss / entropy},
                   {"calibration", model.click_rate / rate}};
  return quality;
}

class ClickEvaluation final : public Evaluation {
 public:
  ClickEvaluation(const ClickBatch& batch, Var logits, ClickConstants& constants)
      : batch_(batch), logits_(logits), constants_(constants) {}

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override {
    const float* scores = lane.view(logits_).as<float>();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at =
          batch_.place(Split::evaluation, first + static_cast<std::uint64_t>(i));
      mine_[kScore].push_back(scores[i]);
      mine_[kTruth].push_back(static_cast<float>(log_odds(batch_.probability(at))));
      mine_[kMainEffects].push_back(static_cast<float>(batch_.main_effects(at)));
      mine_[kLabel].push_back(batch_.label(at));
    }
  }

  Quality finish(Group& group) override {
    const Columns all = gather(group);
    return batch_.has_oracle() ? against_truth(all, constants_) : against_labels(all);
  }

 private:
  /// Ranks may have different numbers of samples: missing ones are sent as NaN.
  Columns gather(Group& group) const {
    double most[1] = {static_cast<double>(mine_[kScore].size())};
    group.max(most);
    Columns all;
    for (std::size_t i = 0; i < kColumns; ++i) {
      std::vector<float> sent = mine_[i];
      sent.resize(static_cast<std::size_t>(most[0]), std::nanf(""));
      all[i] = gather_all(group, sent);
    }
    drop_padding(all);
    return all;
  }
  /// Missing samples have no label; NaN scores remain for the AUC to refuse.
  static void drop_padding(Columns& all) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all[kLabel].size(); ++i) {
      if (std::isnan(all[kLabel][i])) continue;
      for (auto& column : all) column[kept] = column[i];
      ++kept;
    }
    for (auto& column : all) column.resize(kept);
  }

  const ClickBatch& batch_;
  Var logits_;
  ClickConstants& constants_;
  Columns mine_;
};

}  // namespace

std::unique_ptr<Evaluation> make_click_evaluation(const ClickBatch& batch, Var logits,
                                                  ClickConstants& constants) {
  return std::make_unique<ClickEvaluation>(batch, logits, constants);
}

}  // namespace bench::training
