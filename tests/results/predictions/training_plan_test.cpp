// The search for a split: what is tried, what is left out, and against all by hand.
#include "results/predictions/training_plan.h"

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

PlanQuestion eight_h100(const char* model) {
  PlanQuestion question{.model = model_shape(model)};
  question.global_batch = 64;
  question.device_memory_bytes = 80e9;
  question.compute = {.flops_per_second = 500e12, .low = 450e12, .high = 550e12, .source = "given"};
  question.node_bytes_per_second = 450e9;
  question.between_bytes_per_second = 50e9;
  return question;
}

}  // namespace

TEST_CASE("a small model on one node is split over data alone") {
  const Prediction plan = predict_plan(eight_h100("gpt2-1.5b"));
  REQUIRE_FALSE(plan.choices.empty());
  CHECK(plan.choices.front().text.find("dp=8") == 0);
  CHECK(plan.value == plan.choices.front().seconds);
  for (std::size_t i = 1; i < plan.choices.size(); ++i)
    CHECK(plan.choices[i].seconds >= plan.choices[i - 1].seconds);
}

TEST_CASE("a large model is split until it fits, and no choice exceeds the memory") {
  PlanQuestion question = eight_h100("llama3-70b");
  CHECK_THROWS_WITH(predict_plan(question), Catch::Matchers::Contains("no split fits"));
  question.devices = 64;
  const Prediction plan = predict_plan(question);
  for (const PredictedChoice& one : plan.choices) {
    INFO(one.text);
    CHECK(one.memory_bytes <= 0.9 * 80e9);
  }
  question.usable = 0.3;
  CHECK(predict_plan(question).value > plan.value);
}

TEST_CASE("slow networks between nodes favour splits that exchange less over them") {
  PlanQuestion question = eight_h100("llama3-70b");
  question.devices = 256;
  question.global_batch = 1024;
  const auto replicas = [](const Prediction& plan) {
    const std::string& text = plan.choices.front().text;
    const std::size_t at = text.find("dp=");
    return at == std::string::npos ? 1 : std::stoi(text.substr(at + 3));
  };
  const int fast = replicas(predict_plan(question));
  question.between_bytes_per_second = 1e9;
  CHECK(replicas(predict_plan(question)) < fast);
}

TEST_CASE("few long sequences are divided by their tokens where data parallelism ends") {
  PlanQuestion question = eight_h100("llama3-8b");
  question.devices = 64;
  question.global_batch = 4;
  question.sequence = 131072;
  const Prediction plan = predict_plan(question);
  CHECK(plan.choices.front().text.find("cp=") != std::string::npos);
  question.sequence = 256;  // fewer tokens for a device than worth it
  for (const PredictedChoice& one : predict_plan(question).choices)
    CHECK(one.text.find("cp=") == std::string::npos);
}

TEST_CASE("experts are divided where memory is scarce, unless tokens travel slowly") {
  PlanQuestion question = eight_h100("mixtral-8x7b");
  question.devices = 32;
  question.usable = 0.4;
  CHECK(predict_plan(question).choices.front().text.find("ep=8") != std::string::npos);
  question.usable = 0.9;
  question.node_bytes_per_second = question.between_bytes_per_second = 1e9;
  CHECK(predict_plan(question).choices.front().text.find("ep=") == std::string::npos);
}

TEST_CASE("a batch that no split divides, and missing bandwidths, are errors") {
  PlanQuestion question = eight_h100("llama3-8b");
  question.devices = 24;
  question.global_batch = 0.5;
  CHECK_THROWS_WITH(predict_plan(question), Catch::Matchers::Contains("divides"));
  question = eight_h100("llama3-8b");
  question.devices = 12;
  CHECK_THROWS_AS(predict_plan(question), Error);
  question.devices = 16;
  question.between_bytes_per_second = 0;
  CHECK_THROWS_AS(predict_plan(question), Error);
}

}  // namespace bench
