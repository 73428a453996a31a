// Memory of trainings against published examples and against the definitions.
#include "results/predictions/training_memory.h"

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

double part_of(const Prediction& prediction, const std::string& name) {
  for (const PredictionPart& part : prediction.parts)
    if (part.name == name) return part.value;
  return std::nan("");
}

/// Weights, gradients and optimizer states.
double states(const Prediction& prediction) {
  return part_of(prediction, "weights_bytes") + part_of(prediction, "gradients_bytes") +
         part_of(prediction, "optimizer_bytes");
}

}  // namespace

TEST_CASE("ZeRO's published example: 7.5 billion parameters over 64 devices") {
  // Rajbhandari et al. 2020, figure 1: 120 GB, 31.4 GB, 16.6 GB and 1.9 GB with K = 12.
  TrainingMemoryQuestion question{.model = model_shape("llama2-7b")};
  const double scale = 7.5e9 / question.model.parameters();
  const double published[] = {120e9, 31.4e9, 16.6e9, 1.9e9};
  question.split.data = 64;
  for (int stage = 0; stage < 4; ++stage) {
    question.split.zero = stage;
    CHECK(states(predict_training_memory(question)) * scale ==
          Approx(published[stage]).epsilon(0.015));
  }
}

TEST_CASE("activations of a GPT layer are those of Korthikanti et al.") {
  // Section 4.1: s b h (34 + 5 a s / h) bytes, of which 2 are two dropout masks, which no model of
  // today has; ours has the log-sum-exp of each row in addition, 4 bytes a head.
  TrainingMemoryQuestion question{.model = model_shape("gpt3-175b")};
  const double s = 2048, h = 12'288, a = 96, b = 1;
  question.fused_attention = false;
  CHECK(layer_activation_bytes(question) ==
        Approx(s * b * h * (32 + 5 * a * s / h) + 4 * s * b * a));
  question.split.tensor = 8;
  CHECK(layer_activation_bytes(question) ==
        Approx((s * b * h * (32 + 5 * a * s / h) + 4 * s * b * a) / 8));
  question.split.tensor = 1;
  question.recompute = Recompute::full;
  CHECK(layer_activation_bytes(question) == 2 * s * b * h);
}

TEST_CASE("the first stage of a pipeline holds as many micro batches as there are stages") {
  TrainingMemoryQuestion question{.model = model_shape("llama3-8b")};
  const double alone = part_of(predict_training_memory(question), "activations_bytes");
  question.split.pipeline = 4;
  const double four = part_of(predict_training_memory(question), "activations_bytes");
  CHECK(four == Approx(alone));  // a quarter of the layers, four micro batches
  question.micro_batches = 2;
  CHECK(part_of(predict_training_memory(question), "activations_bytes") == Approx(alone / 2));
  question.micro_batches = 0;
  question.split.interleaved = 2;
  CHECK(part_of(predict_training_memory(question), "activations_bytes") ==
        Approx(alone * (1 + 3.0 / 8)));
}

TEST_CASE("offloaded optimizer state leaves the device and is read and written in each step") {
  TrainingMemoryQuestion question{.model = model_shape("gpt2-124m")};
  const Prediction on_device = predict_training_memory(question);
  CHECK(std::isnan(part_of(on_device, "offloaded_bytes")));
  const double state = part_of(on_device, "optimizer_bytes");
  CHECK(state == Approx(12 * question.model.parameters()));
  question.offload_bytes_per_second = 2e9;
  const Prediction offloaded = predict_training_memory(question);
  CHECK(part_of(offloaded, "optimizer_bytes") == 0.0);
  CHECK(part_of(offloaded, "offloaded_bytes") == state);
  CHECK(part_of(offloaded, "offload_seconds") == Approx(2 * state / 2e9));
  CHECK(offloaded.value == Approx(on_device.value - state));
}

TEST_CASE("expert parallelism splits routed experts only") {
  TrainingMemoryQuestion question{.model = model_shape("mixtral-8x7b")};
  question.split.data = 8;
  const double whole = part_of(predict_training_memory(question), "weights_bytes");
  question.split.expert = 8;
  const double split = part_of(predict_training_memory(question), "weights_bytes");
  CHECK(whole - split == Approx(2 * question.model.routed_parameters() * 7 / 8));
}

TEST_CASE("a split is written in words, and one that the model does not allow is an error") {
  const TrainingSplit split = training_split("tp=8,pp=4,dp=2,zero=1");
  CHECK(split.devices() == 64);
  CHECK(to_string(split) == "tp=8,pp=4,dp=2,zero=1");
  CHECK(to_string(training_split("")) == "one device");
  for (const char* wrong : {"tp", "tp=0", "tp=1.5", "zero=4", "xp=2", "tp=2,tp=4", "tp=-1"}) {
    INFO(wrong);
    CHECK_THROWS_AS(training_split(wrong), Error);
  }
  const auto with = [](const char* model, const char* text) {
    TrainingMemoryQuestion question{.model = model_shape(model)};
    question.split = training_split(text);
    return predict_training_memory(question);
  };
  CHECK_THROWS_AS(with("llama3-8b", "tp=3"), Error);
  CHECK_THROWS_AS(with("llama3-8b", "pp=64"), Error);
  CHECK_THROWS_AS(with("llama3-8b", "ep=2,dp=2"), Error);
  CHECK_THROWS_AS(with("mixtral-8x7b", "ep=8,dp=4"), Error);
}

}  // namespace bench
