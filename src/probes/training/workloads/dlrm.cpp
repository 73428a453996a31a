#include "probes/training/workloads/dlrm.h"

#include <algorithm>
#include <span>

#include "probes/training/models/dlrm.h"
#include "probes/training/sources/checksum.h"
#include "probes/training/tables/sparse_tables.h"
#include "probes/training/workloads/dlrm_data.h"
#include "probes/training/workloads/dlrm_evaluation.h"
#include "probes/training/workloads/dlrm_recipes.h"
#include "probes/training/workloads/mllog_options.h"

namespace bench::training {
namespace {

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
    return make_click_evaluation(tables_.batch(), model.outputs[0], evaluation_);
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

std::unique_ptr<Workload> make_dlrm_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data) {
  return std::make_unique<DlrmWorkload>(preset, seed, data);
}

}  // namespace bench::training
