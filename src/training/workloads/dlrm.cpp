#include "training/workloads/dlrm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "core/error.h"
#include "training/models/dlrm.h"
#include "training/sources/auc.h"
#include "training/sources/byte_reader.h"
#include "training/tables/click_batch.h"
#include "training/tables/rank_exchange.h"
#include "training/tables/sparse_tables.h"
#include "training/workloads/dlrm_data.h"
#include "training/workloads/workload.h"

namespace bench::training {
namespace {

/// Properties of the first `samples` evaluation samples, independent of the model: computed once,
/// because sorting is slow.
struct ClickConstants {
  std::size_t samples = 0;
  double auc = 0.0;           // of the true probabilities
  double main_effects = 0.0;  // of the effects of single features, without interactions
};

double logistic(double score) { return 1.0 / (1.0 + std::exp(-score)); }

/// -log of the probability of `label`, where `score` is the log-odds of 1.
double log_loss(double score, double label) {
  return std::max(score, 0.0) - label * score + std::log1p(std::exp(-std::abs(score)));
}

double log_odds(double probability) { return std::log(probability) - std::log1p(-probability); }

/// One number per sample.
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

/// The gap of the scores' expected AUC to that of the true probabilities, on the same samples.
/// Parts:
///   log_loss         of the labels, nats
///   log_loss_gap     log_loss minus the log-loss of the true probabilities
///   calibration      mean predicted probability over the mean true one
///   main_effects_gap the gap of a model that knows every feature's effect but no interaction
/// If the truth is unknown, gap and native are by the labels, the floor is an AUC of 1, and parts
/// are log_loss, normalized_entropy (log_loss over that of the click rate alone) and calibration,
/// over the rate of clicks.
class ClickEvaluation final : public Evaluation {
 public:
  /// `batch` holds the samples that a lane has just evaluated. `constants` is kept from one
  /// evaluation to the next and must outlive them.
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
    const double most = largest(group, static_cast<double>(mine_[kScore].size()));
    Columns all;
    for (std::size_t i = 0; i < kColumns; ++i) {
      std::vector<float> sent = mine_[i];
      sent.resize(static_cast<std::size_t>(most), std::nanf(""));
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

DlrmSetting setting_of(ClickModelOptions clicks, double deviation, double rate_factor,
                       std::int64_t batch, const Schedule& schedule) {
  DlrmSetting setting;
  setting.clicks = std::move(clicks);
  setting.tables.deviation = deviation;
  setting.tables.rate_factor = rate_factor;
  setting.dense.beta2 = 0.99;
  setting.recipe.batch = batch;
  setting.recipe.micro_batch = 256;  // a lane's data fits into the level 2 cache
  setting.recipe.horizon = schedule.horizon;
  setting.recipe.schedule = schedule;
  return setting;
}

/// Found by trials on seeds other than those of the evidence: a rate of 2e-3 (tables 0.05) needs
/// nearly twice the samples, a batch of 1024 as many and more time, one of 4096 a fifth more.
DlrmSetting tiny_setting() {
  DlrmSetting setting =
      setting_of(tiny_clicks(), 0.03, 33.0, 2048, {Schedule::Shape::linear_last, 6e-3, 0, 2000});
  Recipe& recipe = setting.recipe;
  recipe.target = 0.008;
  recipe.target_source =
      "between 0.052, the gap of single features without interactions, and the gap at the horizon; "
      "docs/workloads/dlrm.md";
  recipe.evaluation_every = 32;
  recipe.evaluation_samples = 32768;
  return setting;
}

/// Targets of small and standard are provisional: rare rows keep the floor out of reach, so a
/// target must come from reference runs.
DlrmSetting small_setting() {
  DlrmSetting setting = setting_of(small_clicks(), 0.02, 10.0, 16384,
                                   {Schedule::Shape::linear_last, 1e-3, 500, 20000});
  setting.recipe.target = 0.02;
  setting.recipe.evaluation_every = 400;
  setting.recipe.evaluation_samples = 262144;
  return setting;
}

DlrmSetting standard_setting() {
  DlrmSetting setting = small_setting();
  setting.clicks = standard_clicks();
  setting.recipe.batch = 65536;
  setting.recipe.evaluation_samples = 524288;
  return setting;
}

/// In the order of Model::inputs.
enum DlrmInput : std::size_t { kDense, kEmbeddings, kLabels };

class DlrmWorkload final : public Workload {
 public:
  DlrmWorkload(const std::string& preset, std::uint64_t seed, const DataChoice& choice)
      : preset_(preset),
        setting_(dlrm_setting(preset)),
        data_(open_dlrm_data(setting_.clicks, seed, choice)),
        shape_(shape_of(preset, source().shape())),
        tables_(source(), tables_of(setting_, shape_, seed)) {
    setting_.recipe = data_.fit(setting_.recipe);
  }

  std::string name() const override { return "dlrm"; }
  std::string preset() const override { return preset_; }
  const Recipe& recipe() const override { return setting_.recipe; }
  std::string item() const override { return "sample"; }
  std::int64_t items_per_sample() const override { return 1; }
  double flops_per_sample() const override { return dlrm_flops_per_sample(shape_); }

  Model model(std::int64_t samples, Dtype dtype, bool) const override {
    Dlrm dlrm = make_dlrm(shape_, samples, dtype);
    return {std::move(dlrm.graph),
            dlrm.losses,
            {dlrm.dense, dlrm.embeddings, dlrm.labels},
            {dlrm.logits}};
  }
  std::unique_ptr<Optimizer> optimizer() const override { return make_adamw(setting_.dense); }
  Json optimizer_options() const override { return mllog_options(setting_.dense); }

  void read(Split split, std::uint64_t first, const Model& model, const Lane& lane) const override {
    const ClickBatch& batch = tables_.batch();
    const View dense = lane.view(model.inputs[kDense]), labels = lane.view(model.inputs[kLabels]);
    tables_.copy(split, first, lane.view(model.inputs[kEmbeddings]));
    const std::int64_t begin = batch.place(split, first);
    const std::int64_t count = std::min(labels.rows, batch.count() - begin);
    std::copy_n(batch.dense(begin), count * dense.columns, dense.as<float>());
    std::copy_n(batch.labels(begin), count, labels.as<float>());
  }

  std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const override;

  std::unique_ptr<Evaluation> evaluation(const Model& model) const override {
    return std::make_unique<ClickEvaluation>(tables_.batch(), model.outputs[0], evaluation_);
  }
  Json data() const override { return data_.facts(); }
  bool repeats() const override { return data_.repeats(); }
  bool knows_floor() const override { return data_.knows_floor(); }
  SparseTables* tables() override { return &tables_; }

 private:
  const ClickSource& source() const { return data_.source(); }
  static DlrmShape shape_of(const std::string& preset, const ClickShape& clicks) {
    DlrmShape shape = dlrm_preset(preset);
    shape.dense = clicks.dense;
    shape.tables = static_cast<int>(clicks.rows.size());
    return shape;
  }
  static SparseOptions tables_of(const DlrmSetting& setting, const DlrmShape& shape,
                                 std::uint64_t seed) {
    SparseOptions options = setting.tables;
    options.columns = shape.width;
    options.seed = seed;
    return options;
  }

  std::string preset_;
  DlrmSetting setting_;
  DlrmData data_;
  DlrmShape shape_;
  SparseTables tables_;
  mutable ClickConstants evaluation_ = {};  // constants of the law and the evaluation samples
};

std::uint64_t DlrmWorkload::checksum(Split split, std::uint64_t first, std::int64_t count) const {
  const ClickShape& shape = source().shape();
  std::vector<float> numbers(static_cast<std::size_t>(shape.dense) + 1);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(shape.ids()));
  ClickSample sample{.dense = {numbers.data(), numbers.size() - 1}, .ids = ids};
  std::uint64_t sum = 0;
  for (std::uint64_t i = first; i < first + static_cast<std::uint64_t>(count); ++i) {
    source().read(split, i, sample);
    numbers.back() = sample.label;
    sum += sample_checksum(split, i, std::span<const float>(numbers)) +
           sample_checksum(split, i, std::span<const std::int32_t>(ids));
  }
  return sum;
}

}  // namespace

DlrmSetting dlrm_setting(const std::string& preset) {
  dlrm_preset(preset);  // throws for an unknown name
  if (preset == "tiny") return tiny_setting();
  return preset == "small" ? small_setting() : standard_setting();
}

std::unique_ptr<Workload> make_dlrm_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data) {
  return std::make_unique<DlrmWorkload>(preset, seed, data);
}

}  // namespace bench::training
