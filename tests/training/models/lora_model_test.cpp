// Adapters against finite differences and against merged weights, what is trained and counted, and
// the published sizes.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/gradient_check.h"
#include "training/engine/replica.h"
#include "training/host/host_kernels.h"
#include "training/models/lora.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

constexpr std::int64_t kAdapted = 3;  // sequences

/// Two layers, grouped heads of which one is shifted, rank 3, alpha 12.
LoraShape little_lora() { return {{2, 16, 20, 4, 2, 7, 11, false, false, 1, 100.0}, 3, 12}; }

void fill_tokens(const Llm& model, const Lane& lane, int vocabulary) {
  fill_ids(lane.view(model.tokens), vocabulary, 1);
  fill_ids(lane.view(model.targets), vocabulary, 2);
}

GradientError check_lora(const KernelFactory& kernels, bool recompute = false) {
  const LoraShape shape = little_lora();
  Llm model = make_lora(shape, kAdapted, Dtype::f64, recompute);
  const int vocabulary = static_cast<int>(shape.base.vocabulary);
  return check_gradients(
      *model.graph, model.losses, [&](const Lane& lane) { fill_tokens(model, lane, vocabulary); },
      kernels);
}

/// Passes only half of the gradient of x A that is doubled.
class HalvingElementwise final : public ElementwiseKernels {
 public:
  explicit HalvingElementwise(std::unique_ptr<ElementwiseKernels> real) : real_(std::move(real)) {}
  void add(View a, View b, View y) override { real_->add(a, b, y); }
  void copy(View x, View y, bool add) override {
    if (add && x.columns == little_lora().rank) return;
    real_->copy(x, y, add);
  }
  void column_sums(View x, View sums, bool add) override { real_->column_sums(x, sums, add); }

 private:
  std::unique_ptr<ElementwiseKernels> real_;
};

/// Adds up 2 m n k of every GEMM.
class CountingGemm final : public GemmKernels {
 public:
  CountingGemm(std::unique_ptr<GemmKernels> real, double& flops)
      : real_(std::move(real)), flops_(flops) {}
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    const auto depth = static_cast<double>(product.transpose_a ? a.rows : a.columns);
    flops_ += 2.0 * depth * static_cast<double>(c.elements());
    real_->multiply(product, a, b, c);
  }

 private:
  std::unique_ptr<GemmKernels> real_;
  double& flops_;
};

/// A model with its weights, for one evaluation.
struct Evaluated {
  explicit Evaluated(Llm made) : model(std::move(made)) {}
  Llm model;
  Plan plan = make_plan(*model.graph, false);
  Weights weights{plan, 5};
  Lane lane{plan, weights, [](Dtype dtype) { return host_kernels(dtype); }};

  View parameter(const std::string& name) const {
    for (const int id : model.graph->parameters())
      if (model.graph->tensor(id).name == name) return weights.view(plan, id);
    throw Error(ErrorKind::internal, "no parameter " + name);
  }
  std::vector<double> losses(int vocabulary) {
    fill_tokens(model, lane, vocabulary);
    lane.forward({});
    const View view = lane.view(model.losses);
    return {view.as<double>(), view.as<double>() + view.elements()};
  }
};

template <class T>
void copy_parameters(const Evaluated& from, const Evaluated& to) {
  for (const int id : from.model.graph->parameters()) {
    const std::string& name = from.model.graph->tensor(id).name;
    const View values = from.parameter(name);
    std::copy_n(values.as<T>(), values.elements(), to.parameter(name).as<T>());
  }
}

/// Gives each B of `adapted` random values, and `merged` the weights W + (alpha / rank) A B.
template <class T>
void merge(const LoraShape& shape, const Evaluated& adapted, const Evaluated& merged) {
  copy_parameters<T>(merged, adapted);  // by name: A and B exist only in `adapted`
  std::uint64_t drawn = 0;
  for (std::int64_t layer = 0; layer < shape.base.layers; ++layer)
    for (const char* projection : {"wqkv", "wo"}) {
      const std::string name = "layer" + std::to_string(layer) + "." + projection;
      const View a = adapted.parameter(name + ".lora_a"), b = adapted.parameter(name + ".lora_b");
      for (std::int64_t i = 0; i < b.elements(); ++i)
        b.as<T>()[i] = static_cast<T>(0.3 * std::sin(static_cast<double>(++drawn)));
      const View w = merged.parameter(name);
      for (std::int64_t i = 0; i < w.rows; ++i)
        for (std::int64_t j = 0; j < w.columns; ++j) {
          double sum = 0.0;
          for (std::int64_t k = 0; k < shape.rank; ++k)
            sum += static_cast<double>(a.as<T>()[i * shape.rank + k]) *
                   static_cast<double>(b.as<T>()[k * w.columns + j]);
          T& weight = w.as<T>()[i * w.columns + j];
          weight = static_cast<T>(static_cast<double>(weight) +
                                  static_cast<double>(shape.alpha / shape.rank) * sum);
        }
    }
}

/// Initial weights with a head that is not zero, so that losses differ.
template <class T>
void randomize_head(const Evaluated& model) {
  const View head = model.parameter("head");
  for (std::int64_t i = 0; i < head.elements(); ++i)
    head.as<T>()[i] = static_cast<T>(std::cos(static_cast<double>(i)));
}

/// The largest difference between two models' losses, relative to their mean.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0, sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    sum += a[i];
  }
  return worst / (sum / static_cast<double>(a.size()));
}

}  // namespace

TEST_CASE("the gradients of adapters are correct, also with recomputation") {
  for (const std::string_view isa : host_kernel_isas())
    CHECK(check_lora([isa](Dtype dtype) { return host_kernels(dtype, isa); }).worst < 1e-6);
  CHECK(check_lora([](Dtype dtype) { return host_kernels(dtype); }, true).worst < 1e-6);
}

TEST_CASE("half of an adapter's gradient lost is found by finite differences") {
  const auto faulty = [](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    set.elementwise = std::make_unique<HalvingElementwise>(std::move(set.elementwise));
    return set;
  };
  CHECK(check_lora(faulty).worst > 1e-3);
}

TEST_CASE("a model with new adapters predicts what its base predicts, to the bit") {
  const LoraShape shape = lora_preset("tiny");
  Evaluated base(make_llm(shape.base, kAdapted)), adapted(make_lora(shape, kAdapted));
  randomize_head<float>(base);
  copy_parameters<float>(base, adapted);
  CHECK(base.losses(64) == adapted.losses(64));
}

TEST_CASE("adapters merged into the weights predict the same as unmerged ones") {
  const LoraShape tiny = lora_preset("tiny");
  Evaluated merged(make_llm(tiny.base, kAdapted)), adapted(make_lora(tiny, kAdapted));
  randomize_head<float>(merged);
  const std::vector<double> before = merged.losses(64);
  merge<float>(tiny, adapted, merged);
  const std::vector<double> after = merged.losses(64);
  CHECK(distance(before, after) > 0.1);
  CHECK(distance(after, adapted.losses(64)) < 2e-5);  // f32: two roundings of each weight
  Evaluated exact_merged(make_llm(little_lora().base, kAdapted, Dtype::f64));
  Evaluated exact_adapted(make_lora(little_lora(), kAdapted, Dtype::f64));
  randomize_head<double>(exact_merged);
  merge<double>(little_lora(), exact_adapted, exact_merged);
  CHECK(distance(exact_merged.losses(11), exact_adapted.losses(11)) < 1e-13);
  LoraShape other = little_lora();
  other.alpha = 6;  // half of the scale
  Evaluated wrong(make_lora(other, kAdapted, Dtype::f64));
  copy_parameters<double>(exact_adapted, wrong);
  CHECK(distance(exact_merged.losses(11), wrong.losses(11)) > 1e-3);
}

TEST_CASE("a token's loss does not depend on later tokens, with adapters too") {
  const LoraShape shape = lora_preset("tiny");
  Evaluated merged(make_llm(shape.base, kAdapted)), adapted(make_lora(shape, kAdapted));
  randomize_head<float>(merged);
  merge<float>(shape, adapted, merged);
  const std::vector<double> before = adapted.losses(64);
  auto* tokens = adapted.lane.view(adapted.model.tokens).as<std::int32_t>();
  constexpr std::ptrdiff_t kChanged = 40;  // of the first sequence
  tokens[kChanged] = (tokens[kChanged] + 1) % 64;
  adapted.lane.forward({});
  const auto* after = adapted.lane.view(adapted.model.losses).as<double>();
  CHECK(std::equal(before.begin(), before.begin() + kChanged, after));
  CHECK(before[kChanged] != after[kChanged]);
  CHECK(std::equal(before.begin() + 64, before.end(), after + 64));
}

TEST_CASE("only adapters have gradients and optimizer state") {
  const LoraShape shape = lora_preset("tiny");
  const Llm model = make_lora(shape, 2);
  const Plan plan = make_plan(*model.graph);
  CHECK(plan.gradient_order.size() == 8);
  for (const auto& [tensor, action] : plan.gradient_order)
    CHECK_THAT(model.graph->tensor(tensor).name, Contains(".lora_"));
  const std::int64_t adapters = 2 * shape.rank * (64 + 192 + 64 + 64);
  CHECK(model.graph->trainable_count() == adapters);
  CHECK(plan.bytes(Arena::gradients) == 4 * adapters);
  Replica replica(plan, model.losses, [](Dtype dtype) { return host_kernels(dtype); },
                  make_adamw({}), {});
  replica.own({{0, blocks_of(replica.gradients())}});
  CHECK(replica.optimizer_bytes() == 2 * 4 * adapters);
}

TEST_CASE("frozen weights take part in two of three GEMMs, and FLOPs count these") {
  const LoraShape shape = little_lora();
  const auto counted = [&](const Llm& model) {
    double flops = 0.0;
    const Plan plan = make_plan(*model.graph);
    const Weights weights(plan, 1);
    Lane lane(plan, weights, [&](Dtype dtype) {
      KernelSet set = host_kernels(dtype);
      set.gemm = std::make_unique<CountingGemm>(std::move(set.gemm), flops);
      return set;
    });
    fill_tokens(model, lane, static_cast<int>(shape.base.vocabulary));
    lane.forward({});
    lane.backward({});
    return flops;
  };
  const auto of_attention = [](const Graph& graph) {
    double flops = 0.0;
    for (const Node& node : graph.nodes())
      if (node.op->name() == "attention") flops += 3.0 * node.op->flops();
    return flops;
  };
  const Llm lora = make_lora(shape, kAdapted), llm = make_llm(shape.base, kAdapted);
  CHECK(counted(lora) == lora.graph->training_flops() - of_attention(*lora.graph));
  CHECK(counted(llm) == llm.graph->training_flops() - of_attention(*llm.graph));
  CHECK(llm.graph->training_flops() == 3.0 * llm.graph->forward_flops());
  const double rows = kAdapted * 7, attention = of_attention(*lora.graph);
  const double packed = 8 * 4, in_layer = 16 * packed + 16 * 16 + 16 * 40 + 20 * 16;
  const double frozen = 2 * in_layer + 16 * 11, adapters = 2 * 3 * (16 + packed + 16 + 16);
  // In front of the first adapter nothing is trained: two input gradients are not needed.
  CHECK(lora.graph->training_flops() - attention ==
        rows * (4 * frozen + 6 * adapters - 2 * 16 * packed - 2 * 16 * 3));
  CHECK(lora_flops_per_token(shape) == lora.graph->training_flops() / rows);
}

TEST_CASE("lora 70b has the shape of Llama 2 70B and the adapters of its benchmark") {
  const Llm model = make_lora(lora_preset("70b"), 1, Dtype::bf16);
  const std::int64_t trained = 80 * 16 * (8192 + 10240 + 8192 + 8192);
  CHECK(model.graph->trainable_count() == trained);
  CHECK(model.graph->parameter_count() - trained == 68'976'648'192);
  for (const std::string& preset : lora_presets()) {
    const LoraShape shape = lora_preset(preset);
    CHECK(shape.alpha == 2 * shape.rank);
  }
  CHECK_THROWS_WITH(lora_preset("7b"), Contains("7b"));
}

TEST_CASE("adapters of GPT-2 and an alpha that is no doubling of the rank are refused") {
  LoraShape shape = little_lora();
  shape.alpha = 9;
  CHECK_THROWS_WITH(make_lora(shape, 1), Contains("alpha 9 is not rank 3 times a power of two"));
  shape.alpha = 3;
  CHECK_NOTHROW(make_lora(shape, 1));
  shape.rank = 0;
  CHECK_THROWS(make_lora(shape, 1));
  CHECK_THROWS_WITH(make_lora({llm_preset("gpt2"), 4, 8}, 1), Contains("GPT-2"));
}

}  // namespace bench::training
