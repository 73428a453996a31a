// Predictions held against series of a side: which one, its spread, the error, and refusals.
#include "runner/commands/predict/prediction_check.h"

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/terminal.h"
#include "results/output/predictions/prediction_output.h"
#include "results/predictions/collective_time.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

void add_series(Side& side, const std::string& metric, const Json& params, int ranks,
                const std::vector<double>& values, Unit unit = Unit::second) {
  MetricKey key{.metric = metric, .params = params.dump(), .device = "host", .ranks = ranks};
  key.unit = unit;
  auto& points = side.metrics[key][{"node1", ""}];
  for (const double value : values) points.push_back({.value = value});
}

/// All-reduce of two sizes, in place and not, over two and four ranks.
Side measured_side() {
  Side side{.name = "run 1"};
  const auto add = [&](bool in_place, int bytes, int ranks, const std::vector<double>& values) {
    add_series(side, "collective.latency",
               {{"op", "all_reduce"}, {"in_place", in_place}, {"size_bytes", bytes}}, ranks,
               values);
  };
  add(true, 4096, 2, {4e-6, 5e-6, 6e-6});
  add(false, 4096, 2, {7e-6, 8e-6, 9e-6});
  add(true, 4096, 4, {10e-6});
  add(true, 1048576, 2, {1e-3});
  add_series(side, "training.step_time", Json::object(), 1, {0.5, 0.6});
  return side;
}

Prediction predicted_collective(double bytes, double seconds_per_byte) {
  CollectiveQuestion question{.bytes = bytes, .ranks = 2};
  question.latency_s = 0.0;
  question.bytes_per_second = 1.0 / seconds_per_byte;
  return predict_collective(question);
}

}  // namespace

TEST_CASE("a collective is held against the fastest series of its size and ranks") {
  Prediction answer = predicted_collective(4096, 6e-6 / 4096);
  answer.check = check_prediction(answer, measured_side(), answer.measured_as);
  CHECK(answer.check->measured == 5e-6);
  CHECK(answer.check->values == 3);
  CHECK(answer.check->least == 4e-6);
  CHECK(answer.check->most == 6e-6);
  CHECK(answer.check->params.at("in_place") == true);
  CHECK(answer.check->source == "run 1");

  const Json json = parse_json(to_json(answer).dump(), "answer");
  CHECK(json["check"]["error"].get<double>() == Approx(0.2));
  CHECK(json["check"]["inside_range"] == true);  // of 20 %
  CHECK_NOTHROW(Schema::load(schema_path("report_predict")).check(json, "answer"));
  const std::string words = to_terminal(to_document(answer), TextStyle{.width = 200});
  CHECK_THAT(words, Contains("median of 3 values") && Contains("+20.0 %") &&
                        Contains("inside the predicted range"));
}

TEST_CASE("a prediction that is far off says so") {
  Prediction answer = predicted_collective(1048576, 2e-3 / 1048576);
  answer.check = check_prediction(answer, measured_side(), answer.measured_as);
  const std::string words = to_terminal(to_document(answer), TextStyle{.width = 200});
  CHECK_THAT(words, Contains("+100.0 %") && Contains("outside the predicted range"));
  CHECK(to_json(answer)["check"]["inside_range"] == false);
  CHECK(to_json(predicted_collective(4096, 1e-9))["check"].is_null());
}

TEST_CASE("a size or a number of ranks that was not measured is refused, with those that were") {
  const Prediction other = predicted_collective(8192, 1e-9);
  CHECK_THROWS_WITH(check_prediction(other, measured_side(), other.measured_as),
                    Contains("no measurement of collective.latency"));
  try {
    check_prediction(other, measured_side(), other.measured_as);
  } catch (const Error& error) {
    CHECK_THAT(error.hint(), Contains("size_bytes (1048576, 4096)") && Contains("ranks (2, 4)"));
  }
  MeasuredAs ranks = predicted_collective(4096, 1e-9).measured_as;
  ranks.ranks = 8;
  CHECK_THROWS_WITH(check_prediction(other, measured_side(), ranks), Contains("over 8 ranks"));
}

TEST_CASE("several series are refused for other metrics, and another unit too") {
  const Prediction answer = predicted_collective(4096, 1e-9);
  CHECK_THROWS_WITH(
      check_prediction(answer, measured_side(),
                       {.metric = "collective.latency", .params = {{"size_bytes", 4096}}}),
      Contains("several measurements of"));
  const PredictionCheck one =
      check_prediction(answer, measured_side(), {.metric = "training.step_time"});
  CHECK(one.measured == Approx(0.55));
  Side side;
  add_series(side, "triad.bandwidth", Json::object(), 1, {1e9}, Unit::byte_per_second);
  CHECK_THROWS_WITH(check_prediction(answer, side, {.metric = "triad.bandwidth"}),
                    Contains("triad.bandwidth is in B/s, which the answer is not"));
}

TEST_CASE("conditions choose a series by numbers, truth values and words") {
  const Prediction answer = predicted_collective(4096, 1e-9);
  PredictOptions options;
  options.where = {"in_place=false", "ranks=2", "op=all_reduce"};
  const MeasuredAs sought = measurement_sought(answer, options);
  CHECK(sought.metric == "collective.latency");
  CHECK(check_prediction(answer, measured_side(), sought).measured == 8e-6);
  options.where = {"in_place=yes"};
  CHECK_THROWS_WITH(check_prediction(answer, measured_side(), measurement_sought(answer, options)),
                    Contains("no measurement of collective.latency"));
}

TEST_CASE("a question without a metric of its own needs one, and conditions are KEY=VALUE") {
  PredictOptions options;
  options.check = "latest";
  CHECK_THROWS_WITH(check_prediction(Prediction{.question = "fleet"}, options),
                    Contains("no metric measures the answer to `predict fleet` by itself"));
  options.metric = "serving.token_rate";
  options.where = {"clients"};
  CHECK_THROWS_WITH(check_prediction(Prediction{.question = "fleet"}, options),
                    Contains("'clients' is not KEY=VALUE"));
}

}  // namespace bench
