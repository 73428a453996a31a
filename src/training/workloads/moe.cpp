#include "training/workloads/moe.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "training/sources/finite.h"
#include "training/workloads/chosen_data.h"
#include "training/workloads/token_samples.h"

namespace bench::training {
namespace {

using MoeData = ChosenData<TokenSource>;

MoeData open_moe_data(const MoeSetting& setting, std::uint64_t seed, const DataChoice& choice) {
  require_generated(choice, "moe", "text", ", or train llm on your files");
  return MoeData::in_order<FiniteTokens>(std::make_unique<RegimeSource>(setting.text(seed)), choice,
                                         seed);
}

/// Sizes and rate were tried on seeds other than those of the evidence. Of those, 19 of 20 reached
/// a target of 0.1, which was raised then.
MoeSetting tiny_moe(const std::string& preset) {
  MoeSetting setting{moe_preset(preset), 8};
  Recipe& recipe = setting.recipe;
  recipe.batch = 32;  // 2048 tokens
  recipe.horizon = 1500;
  recipe.schedule = {Schedule::Shape::linear_last, 8e-3, 60, recipe.horizon};
  recipe.clip = 1.0;
  recipe.target = 0.13;
  recipe.target_source =
      "twice the gap of seed 1 at the horizon, for one seed in twenty stays above 0.1; a dense "
      "model with as many active parameters misses it (docs/evidence/moe_tiny.json)";
  recipe.evaluation_every = 40;
  recipe.evaluation_samples = 256;
  recipe.micro_batch = 4;
  setting.adamw.beta2 = 0.98;
  return setting;
}

/// A larger preset: cosine down to a tenth of the peak, decay of matrices. No target has been found
/// yet.
MoeSetting large_moe(const std::string& preset, int regimes, std::int64_t batch,
                     std::int64_t horizon, double peak, std::int64_t warmup) {
  MoeSetting setting{moe_preset(preset), regimes};
  setting.recipe = large_recipe(batch, horizon, {.peak = peak, .warmup = warmup, .floor = 0.1});
  setting.recipe.target = 0.25;
  setting.adamw.beta2 = 0.95;
  setting.adamw.decay = 0.1;
  return setting;
}

/// Losses by class of token, and sums of what each layer's router did.
class MoeEvaluation final : public Evaluation {
 public:
  MoeEvaluation(const TokenSource& source, const MoeShape& shape, const Model& model)
      : gaps_(source),
        targets_(static_cast<double>(source.targets())),
        experts_(static_cast<std::size_t>(shape.experts)),
        losses_(model.losses),
        routing_(model.outputs),
        sums_(routing_.size() * columns()) {}

  void add(const Lane& lane, std::uint64_t first, std::int64_t count) override {
    gaps_.add(lane.view(losses_).as<double>(), first, count);
    for (std::size_t layer = 0; layer < routing_.size(); ++layer) {
      const double* from = lane.view(routing_[layer]).as<double>();
      for (std::int64_t i = 0; i < count; ++i)
        for (double& sum : layer_sums(layer)) sum += *from++;
    }
  }

  Quality finish(Group& group) override {
    gaps_.sum(group);
    Quality quality = gaps_.quality();
    quality.parts = {{"base", gaps_.gap(TokenClass::base)},
                     {"announcement", gaps_.gap(TokenClass::key)}};
    if (routing_.empty()) return quality;
    group.sum(sums_);
    add_routing(quality, gaps_.tokens() / targets_);
    return quality;
  }

 private:
  std::size_t columns() const { return experts_ + static_cast<std::size_t>(kRoutingColumns); }
  std::span<double> layer_sums(std::size_t layer) {
    return std::span(sums_).subspan(layer * columns(), columns());
  }

  /// Of the worst layer each.
  void add_routing(Quality& quality, double sequences) {
    double load = 0.0, entropy = 1.0, dropped = 0.0, balance = 0.0;
    for (std::size_t layer = 0; layer < routing_.size(); ++layer) {
      const std::span<double> sums = layer_sums(layer), loads = sums.first(experts_);
      const auto extra = [&](RoutingColumn column) {
        return sums[experts_ + static_cast<std::size_t>(column)];
      };
      double taken = 0.0, most = 0.0, of_layer = 0.0;
      for (const double one : loads) taken += one, most = std::max(most, one);
      for (const double one : loads)
        if (one > 0.0) of_layer -= one / taken * std::log(one / taken);
      load = std::max(load, most * static_cast<double>(experts_) / taken);
      entropy = std::min(entropy, of_layer / std::log(static_cast<double>(experts_)));
      dropped = std::max(dropped, extra(RoutingColumn::dropped) / extra(RoutingColumn::chosen));
      balance = std::max(balance, extra(RoutingColumn::balance) / sequences);
    }
    quality.parts.insert(quality.parts.end(), {{"expert_load_max_over_mean", load},
                                               {"expert_load_entropy", entropy},
                                               {"dropped_share", dropped},
                                               {"balance_loss", balance}});
  }

  TokenGaps gaps_;
  double targets_;  // of a sequence
  std::size_t experts_;
  Var losses_;
  std::vector<Var> routing_;
  std::vector<double> sums_;
};

class MoeWorkload final : public Workload {
 public:
  MoeWorkload(std::string preset, const MoeSetting& setting, std::uint64_t seed,
              const DataChoice& data)
      : preset_(std::move(preset)),
        setting_(setting),
        data_(open_moe_data(setting, seed, data)),
        recipe_(data_.fit(setting.recipe)),
        flops_(moe_flops_per_token(setting.shape) * static_cast<double>(setting.shape.sequence)) {}

  std::string name() const override { return "moe"; }
  std::string preset() const override { return preset_; }
  const Recipe& recipe() const override { return recipe_; }
  std::string item() const override { return "token"; }
  std::int64_t items_per_sample() const override { return setting_.shape.sequence; }
  double flops_per_sample() const override { return flops_; }
  bool routes_to_experts() const override { return setting_.shape.experts > 1; }

  Model model(std::int64_t samples, Dtype dtype, bool recompute) const override {
    return model_part({}, samples, dtype, recompute);
  }
  Model model_part(const ModelPart& part, std::int64_t samples, Dtype dtype,
                   bool recompute) const override {
    Moe moe = make_moe(setting_.shape, samples, dtype, recompute, part);
    return {std::move(moe.graph), moe.losses, {moe.tokens, moe.targets}, std::move(moe.routing)};
  }
  std::unique_ptr<Optimizer> optimizer() const override { return make_adamw(setting_.adamw); }
  Json optimizer_options() const override {
    Json options = mllog_options(setting_.adamw);
    options["max_sequence_length"] = setting_.shape.sequence;
    return options;
  }

  void read(Split split, std::uint64_t first, const Model& model, const Lane& lane) const override {
    read_token_samples(data_.source(), split, first, model, lane);
  }
  std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const override {
    return token_checksum(data_.source(), split, first, count);
  }
  std::unique_ptr<Evaluation> evaluation(const Model& model) const override {
    return std::make_unique<MoeEvaluation>(data_.source(), setting_.shape, model);
  }

  /// Minus the floor; sources/regimes.h has these for the text of tiny.
  std::vector<std::pair<std::string, double>> baselines() const override {
    if (setting_.shape.vocabulary != 72 || setting_.shape.sequence != 64) return {};
    return {{"unigram", 4.0440 - 2.9373}, {"bigram", 3.8802 - 2.9373}};
  }
  Json data() const override { return data_.facts(); }
  bool repeats() const override { return data_.repeats(); }

 private:
  std::string preset_;
  MoeSetting setting_;
  MoeData data_;
  Recipe recipe_;
  double flops_;
};

}  // namespace

RegimeOptions MoeSetting::text(std::uint64_t seed) const {
  RegimeOptions options;
  options.vocabulary = static_cast<int>(shape.vocabulary);
  options.regimes = regimes;
  options.targets = static_cast<int>(shape.sequence);
  options.seed = seed;
  return options;
}

MoeSetting moe_setting(const std::string& preset) {
  moe_preset(preset);  // throws for an unknown name
  if (preset.starts_with("tiny")) return tiny_moe(preset);
  if (preset == "small") {
    MoeSetting setting = large_moe(preset, 8, 512, 1000, 1e-3, 50);
    setting.recipe.micro_batch = 4;
    return setting;
  }
  if (preset == "standard") return large_moe(preset, 16, 512, 2000, 4e-4, 100);
  // Batch, rates and warm-up of MLPerf's gpt_oss_20b with a batch of 16 (Training v6.0).
  return large_moe(preset, 16, 16, 12000, 8e-4, 128);
}

std::unique_ptr<Workload> make_moe_workload(const std::string& preset, const MoeSetting& setting,
                                            std::uint64_t seed, const DataChoice& data) {
  return std::make_unique<MoeWorkload>(preset, setting, seed, data);
}

std::unique_ptr<Workload> make_moe_workload(const std::string& preset, std::uint64_t seed,
                                            std::int64_t sequence, const DataChoice& data) {
  MoeSetting setting = moe_setting(preset);
  MoeShape& shape = setting.shape;
  const std::int64_t full = shape.sequence;
  shape.sequence = checked_sequence(full, "moe " + preset, sequence);
  if (shape.sequence != full) setting.recipe.target_source.clear();
  return make_moe_workload(preset, setting, seed, data);
}

}  // namespace bench::training
