// Predictions as JSON by the schema, and in words.
#include "results/output/predictions/prediction_output.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/terminal.h"
#include "results/predictions/checkpoint_time.h"
#include "results/predictions/collective_time.h"
#include "results/predictions/serving.h"
#include "results/predictions/training_plan.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

/// One answer to each question, and one that is not finite.
std::vector<Prediction> answers() {
  const ModelShape model = model_shape("llama3-8b");
  const ComputeRate compute{
      .flops_per_second = 5e14, .low = 4.5e14, .high = 5.5e14, .source = "given"};
  StepQuestion step{.model = model, .global_batch = 8, .compute = compute};
  TrainQuestion train{.model = model, .tokens = 1e12};
  train.peak_flops = 1e15;
  PlanQuestion plan{.model = model, .global_batch = 64, .device_memory_bytes = 80e9};
  plan.compute = compute;
  plan.node_bytes_per_second = plan.between_bytes_per_second = 450e9;
  CollectiveQuestion collective{.bytes = 1e6, .ranks = 8};
  collective.bytes_per_second = 5e10;
  CheckpointQuestion checkpoint{.bytes = 1e12, .bytes_per_second = 1e10};
  checkpoint.device_mtbf_s = 1e6;
  ServeQuestion serve{.model = model};
  serve.device_memory_bytes = 80e9;
  serve.device_bytes_per_second = 3e12;
  const FleetQuestion fleet{.tokens_per_second = 1e6, .replica_tokens_per_second = 1e4};
  return {predict_training_memory({.model = model}),
          predict_step(step),
          predict_train(train),
          predict_optimal_split(1e23),
          predict_plan(plan),
          predict_collective(collective),
          predict_checkpoint(checkpoint),
          predict_serve(serve),
          predict_fleet(fleet),
          Prediction{.question = "memory"}};
}

}  // namespace

TEST_CASE("the JSON of every prediction follows its schema") {
  const Schema schema = Schema::load(schema_path("report_predict"));
  for (const Prediction& answer : answers()) {
    INFO(answer.question);
    // As it is printed: numbers that are not finite are null.
    CHECK_NOTHROW(schema.check(parse_json(to_json(answer).dump(), "answer"), "answer"));
  }
}

TEST_CASE("inputs are shown in their units, each with its origin") {
  for (const Prediction& answer : answers()) {
    if (answer.inputs.empty()) continue;
    const std::string words = to_terminal(to_document(answer), TextStyle{.width = 200});
    INFO(words);
    for (const PredictionInput& input : answer.inputs) CHECK_THAT(words, Contains(input.source));
    CHECK_THAT(words, Contains("formula"));
  }
  const std::string train = to_terminal(to_document(answers()[2]), TextStyle{.width = 200});
  CHECK_THAT(train, Contains("1.000 PFLOP/s") && Contains("1,000,000,000,000"));
}

TEST_CASE("long times are shown in hours and days") {
  CHECK(format_predicted(3.0, PredictedUnit::seconds) == "3.000 s");
  CHECK(format_predicted(3 * 3600.0, PredictedUnit::seconds) == "3 hours");
  CHECK(format_predicted(3 * 86400.0, PredictedUnit::seconds) == "3 days");
  CHECK(format_predicted(8'030'261'248.0, PredictedUnit::count) == "8,030,261,248");
  CHECK(format_predicted(std::nan(""), PredictedUnit::bytes) == "none");
}

}  // namespace bench
