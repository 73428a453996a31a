// Diffusion transformers against finite differences, faults that these find, and what a loss may
// depend on.
#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/faulty_diffusion.h"
#include "tests/training/faulty_kernels.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/models/flow.h"
#include "training/workloads/flow.h"

namespace bench::training {
namespace {

constexpr std::int64_t kFlowSamples = 2;

FlowShape little_flow() { return {1, 2, 12, 2, 10, 3, 7, 4, 2, 2, 4, 10.0, 10.0}; }

void fill_numbers(View view, double phase) {
  for (std::int64_t i = 0; i < view.elements(); ++i)
    view.as<double>()[i] = std::sin(1.7 * static_cast<double>(i) + phase);
}

void fill_flow(const Flow& model, const Lane& lane) {
  fill_ids(lane.view(model.words), 7, 1);
  fill_numbers(lane.view(model.patches), 0.1);
  fill_numbers(lane.view(model.times), 0.2);
  fill_numbers(lane.view(model.targets), 0.3);
}

GradientError check_flow_gradients(const KernelFactory& kernels, bool recompute = false) {
  const Flow model = make_flow(little_flow(), kFlowSamples, Dtype::f64, recompute);
  return check_gradients(
      *model.graph, model.losses, [&](const Lane& lane) { fill_flow(model, lane); }, kernels);
}

KernelSet flow_kernels(Dtype dtype) { return host_kernels(dtype); }

/// A model with weights that are nowhere zero, evaluated.
class EvaluatedFlow {
 public:
  EvaluatedFlow()
      : model_(make_flow(little_flow(), kFlowSamples, Dtype::f64)),
        plan_(make_plan(*model_.graph, false)),
        weights_(plan_, 5),
        lane_(plan_, weights_, flow_kernels) {
    for (std::int64_t i = 0; i < weights_.all().elements(); ++i)
      weights_.all().as<double>()[i] += 0.3 * std::sin(static_cast<double>(i));
  }

  /// The loss of each patch after `change`.
  template <class Change>
  std::vector<double> losses(const Change& change) {
    fill_flow(model_, lane_);
    change(model_, lane_);
    lane_.forward({});
    const View losses = lane_.view(model_.losses);
    return {losses.as<double>(), losses.as<double>() + losses.elements()};
  }

 private:
  Flow model_;
  Plan plan_;
  Weights weights_;
  Lane lane_;
};

}  // namespace

TEST_CASE("the gradient of a diffusion transformer is correct, also with recomputation") {
  CHECK(check_flow_gradients(flow_kernels).worst < 1e-6);
  CHECK(check_flow_gradients(flow_kernels, true).worst < 1e-6);
}

TEST_CASE("finite differences find faults of a diffusion transformer") {
  std::vector<Fault> faults = llama_faults();
  std::erase_if(faults, [](const Fault& fault) { return fault.name.starts_with("RMSNorm"); });
  faults.push_back({"modulation gets no gradient", replace_diffusion<UntaughtModulation>});
  faults.push_back({"the gradient ignores gates", replace_diffusion<OpenGates>});
  faults.push_back({"half the slope of the loss", replace_diffusion<HalfSlope>});
  CHECK(faults.size() == 6);
  for (const Fault& fault : faults) {
    INFO(fault.name);
    const GradientError error = check_flow_gradients([&](Dtype dtype) {
      KernelSet set = host_kernels(dtype);
      fault.inject(set);
      return set;
    });
    CHECK(error.worst > 1e-3);
  }
}

TEST_CASE("a prediction does not depend on the target, and a leak is found") {
  EvaluatedFlow flow;
  const auto shifted = [&](double by, bool leaks) {
    return flow.losses([&](const Flow& model, const Lane& lane) {
      const View targets = lane.view(model.targets), patches = lane.view(model.patches);
      for (std::int64_t i = 0; i < targets.elements(); ++i) {
        targets.as<double>()[i] += by;
        if (leaks) patches.as<double>()[i] += 0.1 * targets.as<double>()[i];
      }
    });
  };
  for (const bool leaks : {false, true}) {
    const auto low = shifted(-1.0, leaks), here = shifted(0.0, leaks), high = shifted(1.0, leaks);
    for (std::size_t i = 0; i < here.size(); ++i) {
      // (p - t)^2 bends by 2 if p stays.
      const double bend = high[i] + low[i] - 2.0 * here[i];
      CHECK((std::abs(bend - 2.0) < 1e-9) == !leaks);
    }
  }
}

TEST_CASE("words, time and every other patch reach a patch of their sample, and no other sample") {
  EvaluatedFlow flow;
  const auto before = flow.losses([](const Flow&, const Lane&) {});
  const auto check = [&](const char* what, auto change) {
    INFO(what);
    const auto after = flow.losses(change);
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(after[i] - before[i]) > 1e-6);
    for (std::size_t i = 4; i < 8; ++i) CHECK(after[i] == before[i]);
  };
  check("a word", [](const Flow& model, const Lane& lane) {
    std::int32_t& word = lane.view(model.words).as<std::int32_t>()[2];
    word = (word + 1) % 7;
  });
  check("the order of words", [](const Flow& model, const Lane& lane) {
    auto* words = lane.view(model.words).as<std::int32_t>();
    const std::int32_t first = words[0];
    words[0] = words[0] == words[1] ? (first + 1) % 7 : words[1];
    words[1] = first;
  });
  check("the time",
        [](const Flow& model, const Lane& lane) { lane.view(model.times).as<double>()[0] += 0.5; });
  check("a patch", [](const Flow& model, const Lane& lane) {
    lane.view(model.patches).as<double>()[3 * 8] += 0.5;  // the last one
  });
}

TEST_CASE("models of flow have FLUX.1's parameters, and six FLOPs for each that a token uses") {
  for (const std::string& preset : flow_presets()) {
    INFO(preset);
    const FlowShape shape = flow_preset(preset);
    const Flow model = make_flow(shape, 1);
    if (preset == "flux")
      CHECK(static_cast<double>(model.graph->parameter_count()) == Approx(11.9e9).epsilon(0.01));
    const auto d = static_cast<double>(shape.width), n = static_cast<double>(shape.hidden);
    const auto words = static_cast<double>(shape.words);
    const auto patches = static_cast<double>(shape.patches());
    const auto columns = static_cast<double>(shape.patch_columns());
    const auto doubles = static_cast<double>(shape.double_blocks);
    const auto singles = static_cast<double>(shape.single_blocks), tokens = words + patches;
    const double of_block = 4.0 * d * d + 2.0 * d * n;  // attention and feed-forward part
    const double weights = (doubles + singles) * tokens * of_block + patches * 2.0 * columns * d +
                           d * static_cast<double>(shape.times) + d * d +   // time
                           d * d * (12.0 * doubles + 3.0 * singles + 2.0);  // shift, scale, gate
    const double attention = 12.0 * (doubles + singles) * tokens * tokens * d;
    CHECK(3.0 * model.graph->forward_flops() == Approx(6.0 * weights + attention));
  }
  CHECK(flow_flops_per_sample(flow_preset("tiny")) ==
        3.0 * make_flow(flow_preset("tiny"), 2).graph->forward_flops() / 2.0);
  CHECK_THROWS_WITH(flow_preset("huge"), Catch::Contains("huge"));
}

TEST_CASE("every preset of flow has a recipe and images that fit its model") {
  for (const std::string& preset : flow_presets()) {
    INFO(preset);
    const FlowSetting setting = flow_setting(preset);
    const Recipe& recipe = setting.recipe;
    CHECK(recipe.batch % recipe.micro_batch == 0);
    CHECK(recipe.batch % recipe.device_micro_batch == 0);
    CHECK(recipe.horizon == recipe.schedule.horizon);
    CHECK(recipe.schedule.warmup < recipe.horizon / 5);
    CHECK(recipe.evaluation_every * 20 <= recipe.horizon);
    CHECK(recipe.evaluation_samples % kTimes == 0);
    CHECK(recipe.target > 0.0);
    CHECK(CaptionedImages(setting.images(1)).vocabulary() == setting.shape.vocabulary);
  }
}

TEST_CASE("a time is described by cosines and sines of falling frequencies") {
  std::vector<double> numbers(8);
  describe_time(0.25, 10.0, 8, numbers.data());
  for (std::size_t i = 0; i < 4; ++i) {
    const double turn = 2.5 * std::pow(10.0, -static_cast<double>(i));
    CHECK(numbers[i] == Approx(std::cos(turn)));
    CHECK(numbers[4 + i] == Approx(std::sin(turn)));
  }
}

}  // namespace bench::training
