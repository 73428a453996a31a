#include "training/workloads/two_tower.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "training/models/two_tower.h"
#include "training/sources/byte_reader.h"
#include "training/sources/finite.h"
#include "training/workloads/chosen_data.h"
#include "training/workloads/retrieval_evaluation.h"

namespace bench::training {
namespace {

TwoTowerSetting two_tower_setting_of(InteractionOptions interactions, double deviation,
                                     double rate_factor, std::int64_t batch,
                                     const Schedule& schedule) {
  TwoTowerSetting setting;
  setting.interactions = std::move(interactions);
  setting.tables.deviation = deviation;
  setting.tables.rate_factor = rate_factor;
  setting.dense.beta2 = 0.99;
  setting.recipe.batch = batch;
  setting.recipe.horizon = schedule.horizon;
  setting.recipe.schedule = schedule;
  setting.recipe.evaluation_samples = setting.interactions.items;
  return setting;
}

/// Tried on seeds other than those of the evidence.
TwoTowerSetting tiny_two_tower() {
  TwoTowerSetting setting = two_tower_setting_of(tiny_interactions(), 0.1, 20.0, 1024,
                                                 {Schedule::Shape::linear_last, 4e-3, 0, 3000});
  setting.users = 1024;  // with more, evaluations would take over a tenth of the time
  Recipe& recipe = setting.recipe;
  recipe.micro_batch = recipe.device_micro_batch = 512;
  recipe.target = 0.0045;
  recipe.target_source =
      "1.6 x the usual gap at the horizon, far below 0.158, the gap of ranking by popularity; "
      "docs/workloads/two_tower.md";
  recipe.evaluation_every = 200;
  return setting;
}

/// Targets of small and standard are provisional: rare rows keep the optimum out of reach, so a
/// target must come from reference runs.
TwoTowerSetting small_two_tower() {
  TwoTowerSetting setting = two_tower_setting_of(small_interactions(), 0.1, 20.0, 8192,
                                                 {Schedule::Shape::linear_last, 1e-3, 500, 20000});
  setting.users = 4096;
  Recipe& recipe = setting.recipe;
  recipe.micro_batch = recipe.device_micro_batch = 1024;
  recipe.target = 0.02;
  recipe.evaluation_every = 1000;
  return setting;
}

TwoTowerSetting standard_two_tower() {
  TwoTowerSetting setting = small_two_tower();
  setting.interactions = standard_interactions();
  setting.users = 1024;
  Recipe& recipe = setting.recipe;
  recipe.batch = 65536;
  recipe.micro_batch = recipe.device_micro_batch = 4096;
  recipe.evaluation_every = 2000;
  recipe.evaluation_samples = setting.interactions.items;
  return setting;
}

using InteractionData = ChosenData<ClickSource>;

void refuse_file_options(const DataChoice& choice) {
  if (choice.from_files())
    throw Error(ErrorKind::input, "workload two_tower reads no files: its samples are generated",
                "remove the parameter data");
  if (choice.vocabulary > 0 || choice.table_rows > 0)
    throw Error(ErrorKind::input, "workload two_tower has no use for vocabulary and table_rows",
                "remove these parameters");
}

/// In the order of Model::inputs.
enum TwoTowerInput : std::size_t { kLookups, kCorrections, kTargets };

class TwoTowerWorkload final : public Workload {
 public:
  TwoTowerWorkload(const std::string& preset, const TwoTowerSetting& setting,
                   std::unique_ptr<InteractionModel> law, const DataChoice& choice)
      : preset_(preset),
        setting_(setting),
        shape_(two_tower_preset(preset)),
        law_(*law),
        data_(InteractionData::in_order<FiniteClicks>(std::move(law), choice,
                                                      setting.interactions.seed)),
        tables_(data_.source(), setting_.tables) {
    setting_.recipe = data_.fit(setting_.recipe);
  }

  std::string name() const override { return "two_tower"; }
  std::string preset() const override { return preset_; }
  const Recipe& recipe() const override { return setting_.recipe; }
  std::string item() const override { return "sample"; }
  std::int64_t items_per_sample() const override { return 1; }
  double flops_per_sample() const override {
    return two_tower_flops_per_sample(shape_, setting_.recipe.micro_batch);
  }

  Model model(std::int64_t samples, Dtype dtype, bool) const override {
    TwoTower towers = make_two_tower(shape_, samples, dtype);
    return {std::move(towers.graph),
            towers.losses,
            {towers.embeddings, towers.corrections, towers.targets},
            {towers.vectors}};
  }
  std::unique_ptr<Optimizer> optimizer() const override { return make_adamw(setting_.dense); }
  Json optimizer_options() const override { return mllog_options(setting_.dense); }

  void read(Split split, std::uint64_t first, const Model& model, const Lane& lane) const override {
    const ClickBatch& batch = tables_.batch();
    const View corrections = lane.view(model.inputs[kCorrections]);
    const View targets = lane.view(model.inputs[kTargets]);
    tables_.copy(split, first, lane.view(model.inputs[kLookups]));
    const std::int64_t begin = batch.place(split, first);
    std::copy_n(batch.dense(begin), std::min(corrections.rows, batch.count() - begin),
                corrections.as<float>());
    std::iota(targets.as<std::int32_t>(), targets.as<std::int32_t>() + targets.rows, 0);
  }

  std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const override;

  std::unique_ptr<Evaluation> evaluation(const Model& model) const override {
    return std::make_unique<RetrievalEvaluation>(
        law_, tables_.batch(), model.outputs[0],
        std::max<std::int64_t>(1, law_.items() / setting_.users), sums_);
  }
  Json data() const override { return data_.facts(); }
  bool repeats() const override { return data_.repeats(); }
  SparseTables* tables() override { return &tables_; }

 private:
  std::string preset_;
  TwoTowerSetting setting_;
  TwoTowerShape shape_;
  const InteractionModel& law_;  // owned by data_
  InteractionData data_;
  SparseTables tables_;
  mutable RankingSums sums_ = {};  // of the law and the evaluation users
};

std::uint64_t TwoTowerWorkload::checksum(Split split, std::uint64_t first,
                                         std::int64_t count) const {
  float correction = 0.0f;
  std::vector<std::int32_t> ids(static_cast<std::size_t>(law_.shape().ids()));
  ClickSample sample{.dense = {&correction, 1}, .ids = ids};
  std::uint64_t sum = 0;
  for (std::uint64_t i = first; i < first + static_cast<std::uint64_t>(count); ++i) {
    data_.source().read(split, i, sample);
    sum += sample_checksum(split, i, std::span<const float>(&correction, 1)) +
           sample_checksum(split, i, std::span<const std::int32_t>(ids));
  }
  return sum;
}

}  // namespace

TwoTowerSetting two_tower_setting(const std::string& preset) {
  const TwoTowerShape shape = two_tower_preset(preset);  // throws for an unknown name
  TwoTowerSetting setting = preset == "tiny"    ? tiny_two_tower()
                            : preset == "small" ? small_two_tower()
                                                : standard_two_tower();
  setting.tables.columns = shape.width;
  return setting;
}

std::unique_ptr<Workload> make_two_tower_workload(const std::string& preset, std::uint64_t seed,
                                                  const DataChoice& data) {
  refuse_file_options(data);
  TwoTowerSetting setting = two_tower_setting(preset);
  setting.interactions.seed = setting.tables.seed = seed;
  return std::make_unique<TwoTowerWorkload>(
      preset, setting, std::make_unique<InteractionModel>(setting.interactions), data);
}

}  // namespace bench::training
