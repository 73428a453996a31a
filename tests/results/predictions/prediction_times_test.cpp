// Times: collectives, steps, trainings, checkpoints and serving, against published examples and by
// hand.
#include <cmath>

#include "core/error.h"
#include "results/predictions/checkpoint_time.h"
#include "results/predictions/collective_time.h"
#include "results/predictions/serving.h"
#include "results/predictions/training_time.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

double named(const Prediction& prediction, const std::string& name) {
  for (const PredictionPart& part : prediction.parts)
    if (part.name == name) return part.value;
  return std::nan("");
}

StepQuestion at_400_tflops(const char* model, double global_batch) {
  StepQuestion question{.model = model_shape(model), .global_batch = global_batch};
  question.compute = {.flops_per_second = 400e12, .low = 400e12, .high = 400e12, .source = "given"};
  return question;
}

}  // namespace

TEST_CASE("a ring all-reduce passes 2 (n - 1) / n of the message over each link") {
  CollectiveQuestion question{.bytes = 1e9, .ranks = 8};
  question.latency_s = 5e-6;
  question.bytes_per_second = 50e9;
  const Prediction ring = predict_collective(question);
  CHECK(ring.value == Approx(14 * 5e-6 + 1.75e9 / 50e9));
  CHECK(ring.low < ring.value);
  question.algorithm = CollectiveAlgorithm::tree;
  CHECK(predict_collective(question).value == Approx(6 * 5e-6 + 2e9 / 50e9));
  question.operation = "all_gather";
  question.algorithm = CollectiveAlgorithm::ring;
  CHECK(predict_collective(question).value == Approx(7 * 5e-6 + 0.875e9 / 50e9));
  question.operation = "gather_all";
  CHECK_THROWS_AS(predict_collective(question), Error);
}

TEST_CASE("measured sizes are joined by lines, and carried to other ranks by steps and bytes") {
  const std::vector<MeasuredCollective> points = {
      {1000, 10e-6}, {1'000'000, 110e-6}, {2'000'000, 210e-6}};
  CHECK(interpolated_seconds(points, 1'000'000) == 110e-6);
  CHECK(interpolated_seconds(points, 1'500'000) == Approx(160e-6));
  CHECK(interpolated_seconds(points, 4'000'000) == Approx(410e-6));
  CHECK(std::isnan(interpolated_seconds(points, 10)));
  CollectiveQuestion question{.bytes = 2e6, .ranks = 4};
  question.measured = points;
  question.measured_ranks = 4;
  CHECK(predict_collective(question).value == 210e-6);
  question.ranks = 8;  // 14 steps instead of 6, 1.75 of the bytes instead of 1.5
  CHECK(predict_collective(question).value == Approx(10e-6 * 14 / 6 + 200e-6 * 1.75 / 1.5));
  question.bytes = 1;
  CHECK_THROWS_AS(predict_collective(question), Error);
}

TEST_CASE("a pipeline's bubble is (p - 1) / m of the work, and less with more chunks") {
  StepQuestion question = at_400_tflops("llama3-8b", 32);
  const double alone = predict_step(question).value;
  CHECK(alone == Approx(question.model.training_flops_per_token(8192) * 32 * 8192 / 400e12));
  question.split.pipeline = 4;
  CHECK(predict_step(question).value == Approx(alone / 4 * (1 + 3.0 / 32)));
  question.split.interleaved = 2;
  CHECK(predict_step(question).value == Approx(alone / 4 * (1 + 3.0 / 64)));
}

TEST_CASE("exposed communication and input lengthen a step") {
  StepQuestion question = at_400_tflops("llama3-8b", 32);
  question.split.data = 4;
  CHECK_THROWS_AS(predict_step(question), Error);  // no bandwidth
  question.data_bytes_per_second = 10e9;
  const double exchange = question.model.parameters() * 2 * 1.5 / 10e9;
  const Prediction exposed = predict_step(question);
  CHECK(named(exposed, "exposed_data_communication_s") == Approx(exchange));
  question.split.zero = 3;  // eight micro batches: three passes in each instead of two in all
  CHECK(named(predict_step(question), "exposed_data_communication_s") == Approx(12 * exchange));
  question.split.zero = 2;
  CHECK(named(predict_step(question), "exposed_data_communication_s") == Approx(4.5 * exchange));
  question.split.zero = 1;
  CHECK(named(predict_step(question), "exposed_data_communication_s") == Approx(exchange));
  question.overlap = 0.75;
  CHECK(exposed.value - predict_step(question).value == Approx(0.75 * exchange));
  question.input_s = 1000;
  CHECK(predict_step(question).value == 1000);
  question.global_batch = 33;
  CHECK_THROWS_AS(predict_step(question), Error);
}

TEST_CASE("keys and values that pass around a ring hide behind attention, or lengthen a step") {
  StepQuestion question = at_400_tflops("llama3-8b", 4);
  question.split.context = 4;
  question.overlap = 1.0;
  question.data_bytes_per_second = 1e12;
  CHECK_THROWS_WITH(predict_step(question), Catch::Matchers::Contains("context group is missing"));
  // 32 layers, 4 micro-batches, 10 messages of 2048 tokens x 2 x 1024 numbers in 16 bits.
  constexpr double kBytes = 32.0 * 4 * 10 * 2048 * 2048 * 2;
  // 6 x layers x tokens / 2 x (query + value dimensions), on a quarter of four sequences.
  const double attention = 3.0 * 32 * 8192 * (4096 + 4096) * 8192 / 400e12;
  const double alone = question.model.training_flops_per_token(8192) * 8192 / 400e12;
  question.context_bytes_per_second = kBytes / (2 * attention);
  const Prediction slow = predict_step(question);
  CHECK(named(slow, "exposed_context_communication_s") == Approx(attention));
  CHECK(slow.value == Approx(alone + attention));
  CHECK(slow.high == Approx(alone + 2 * attention));
  question.context_bytes_per_second = kBytes / (0.5 * attention);
  const Prediction fast = predict_step(question);
  CHECK(named(fast, "exposed_context_communication_s") == 0.0);
  CHECK(fast.value == Approx(alone));
  CHECK(fast.high == Approx(alone + 0.5 * attention));
}

TEST_CASE("layers that are computed again communicate again") {
  StepQuestion question = at_400_tflops("llama3-8b", 4);
  question.split.tensor = 2;
  question.split.context = 4;
  question.overlap = 1.0;
  question.tensor_bytes_per_second = question.data_bytes_per_second = 1e12;
  question.context_bytes_per_second = 1e8;  // all that counts
  const auto ring = [&] {
    const Prediction step = predict_step(question);
    return named(step, "exposed_context_communication_s") +
           named(step, "hidden_context_communication_s");
  };
  const double once = ring(), reduced = named(predict_step(question), "tensor_communication_s");
  const double compute = named(predict_step(question), "compute_s");
  question.recompute = Recompute::full;
  CHECK(ring() == Approx(once * 13 / 10));  // 3 x 3 + 4 messages instead of 2 x 3 + 4
  CHECK(named(predict_step(question), "tensor_communication_s") ==
        Approx(reduced * (3 * 2 * 32 + 2) / (2 * 2 * 32 + 2)));
  CHECK(named(predict_step(question), "compute_s") == Approx(compute * 4 / 3));
  question.recompute = Recompute::none;
  // Eight key-value heads: 16 ranks have copies of them, so that messages do not shrink further.
  question.split.tensor = 8;
  const double eight = ring();
  CHECK(eight == Approx(once / 4));
  question.split.tensor = 16;
  CHECK(ring() == Approx(eight));
}

TEST_CASE("routed experts need no all-reduce, and splits that no training has are refused") {
  StepQuestion question = at_400_tflops("mixtral-8x7b", 16);
  question.split.tensor = 2;
  question.tensor_bytes_per_second = question.data_bytes_per_second = 1e12;
  // Two all-reduces a layer instead of four, and two of the vocabulary.
  CHECK(named(predict_step(question), "tensor_communication_s") ==
        Approx((2.0 * 32 + 2) * 16 * 8192 * 4096 * 2 / 1e12));
  question.split.expert = 8;
  question.expert_bytes_per_second = 1e12;
  CHECK_THROWS_WITH(predict_step(question), Catch::Matchers::Contains("experts over 8 devices"));
  question.split = {.context = 3};
  CHECK_THROWS_WITH(predict_step(question),
                    Catch::Matchers::Contains("8192 tokens of a sequence cannot be split into 6"));
}

TEST_CASE("tokens travel to the devices of their experts and back, in both passes") {
  StepQuestion question = at_400_tflops("mixtral-8x7b", 16);
  question.split.data = 8;
  question.overlap = 1.0;
  question.data_bytes_per_second = 1e12;
  const Prediction whole = predict_step(question);
  question.split.expert = 8;
  CHECK_THROWS_WITH(predict_step(question), Catch::Matchers::Contains("expert group is missing"));
  question.expert_bytes_per_second = 1e11;
  const Prediction divided = predict_step(question);
  // 32 layers, 2 micro-batches of 8192 tokens, each to 2 experts, 7 of 8 elsewhere.
  const double seconds = 4.0 * 32 * 2 * 8192 * 2 * 4096 * 2 * 7 / 8 / 1e11;
  CHECK(named(divided, "expert_communication_s") == Approx(seconds));
  CHECK(divided.value - whole.value == Approx(seconds));
  // Each device has other experts, whose gradients it need not exchange.
  const ModelShape& model = question.model;
  CHECK(named(whole, "hidden_data_communication_s") ==
        Approx(model.parameters() * 2 * 1.75 / 1e12));
  CHECK(named(divided, "hidden_data_communication_s") ==
        Approx((model.parameters() - model.routed_parameters()) * 2 * 1.75 / 1e12));
}

TEST_CASE("Llama 3 405B: 16,384 H100 at 400 TFLOP/s take about two months and a half") {
  // arXiv 2407.21783, table 4: 400 TFLOP/s a device at 16,384; 15.6 T tokens.
  TrainQuestion question{.model = model_shape("llama3-405b"), .tokens = 15.6e12};
  question.devices = 16'384;
  question.peak_flops = 989.4e12;
  question.mfu = 400 / 989.4;
  const Prediction answer = predict_train(question);
  CHECK(answer.value / 86'400 == Approx(69.5).epsilon(0.01));
  // The model card: 30.84 million hours of H100.
  CHECK(named(answer, "device_hours") == Approx(30.84e6).epsilon(0.15));
}

TEST_CASE("the budget of Gopher gives the size and the tokens of Chinchilla") {
  // arXiv 2203.15556: 5.76e23 operations, 70 billion parameters, 1.4 T tokens.
  const Prediction answer = predict_optimal_split(5.76e23);
  CHECK(answer.value == Approx(70e9).epsilon(0.02));
  CHECK(named(answer, "tokens") == Approx(1.4e12).epsilon(0.02));
}

TEST_CASE("intervals between checkpoints are Young's and Daly's, and the best loses least") {
  // Checked by minimising Daly's wall time numerically.
  const double stall = 60, mtbf = 10'000, restart = 300;
  const double best = daly_interval(stall, mtbf);
  CHECK(young_interval(stall, mtbf) == Approx(1095.445));
  CHECK(best == Approx(1056).epsilon(0.01));
  for (const double factor : {0.8, 1.25})
    CHECK(goodput(best * factor, stall, restart, mtbf) < goodput(best, stall, restart, mtbf));
  CHECK(daly_interval(20'000, 10'000) == 10'000);
  CheckpointQuestion question{.bytes = 912e9, .bytes_per_second = 15.2e9};
  question.device_mtbf_s = 1e7;
  question.devices = 1000;
  const Prediction answer = predict_checkpoint(question);
  CHECK(named(answer, "write_s") == Approx(60));
  CHECK(answer.value == Approx(best));
  CHECK(answer.low < answer.value);
  CHECK(answer.value < answer.high);
}

TEST_CASE("goodput agrees with a simulation of failures") {
  // One failure process, exponential; a failure repeats the segment after a restart.
  const double interval = 1000, stall = 60, restart = 300, mtbf = 10'000;
  double wall = 0.0;
  std::uint64_t state = 1;
  const auto uniform = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (static_cast<double>(state >> 11) + 0.5) / 9007199254740992.0;
  };
  const int segments = 200'000;
  for (int i = 0; i < segments; ++i) {
    double needed = interval + stall;
    for (;;) {
      const double failure = -mtbf * std::log(uniform());
      if (failure >= needed) {
        wall += needed;
        break;
      }
      wall += failure;
      needed = interval + stall + restart;  // the restart can fail too
    }
  }
  CHECK(segments * interval / wall ==
        Approx(goodput(interval, stall, restart, mtbf)).epsilon(0.01));
}

TEST_CASE("a token takes at least as long as its weights and caches pass through memory") {
  ServeQuestion question{.model = model_shape("llama3-70b"), .devices = 8};
  question.device_memory_bytes = 80e9;
  question.device_bytes_per_second = 3.35e12;
  const Prediction one = predict_serve(question);
  const double weights = (70'553'706'496.0 - 128'256.0 * 8192) * 2;
  const double cache = 4096.0 * 327'680;
  CHECK(one.value == Approx((weights + cache) / (8 * 3.35e12)));
  CHECK(named(one, "kv_cache_tokens") == Approx((8 * 80e9 * 0.9 - 141'107'412'992) / 327'680));
  question.bound_s = 0.02;
  const double batch = named(predict_serve(question), "largest_batch_within_bound");
  question.batch = batch;
  CHECK(predict_serve(question).value <= 0.02);
  question.batch = batch + 1;
  const Prediction more = predict_serve(question);
  CHECK((more.value > 0.02 || batch == named(more, "largest_batch")));
  question.devices = 1;
  CHECK_THROWS_AS(predict_serve(question), Error);
}

TEST_CASE("speculative decoding gains as published") {
  // Leviathan et al. 2023, section 3.3: with a = 0.8, k = 5 and c = 0.05 the factor is 2.95.
  CHECK(tokens_per_verification(0.8, 5) == Approx(3.689).epsilon(0.001));
  CHECK(tokens_per_verification(1.0, 5) == 6);
  CHECK(tokens_per_verification(0.0, 5) == 1);
}

TEST_CASE("a fleet has spares for the replicas that are down") {
  FleetQuestion question{.tokens_per_second = 7000, .replica_tokens_per_second = 1000};
  const Prediction without = predict_fleet(question);
  CHECK(without.value == 10);
  question.device_mtbf_s = 100 * 3600;
  question.repair_s = 10 * 3600;
  question.shortfall = 0.01;
  // By hand: up 10/11; 10 of 13 are up but for 2.5 %, of 14 but for 0.66 %.
  const Prediction with = predict_fleet(question);
  CHECK(with.value == 14);
  CHECK(named(with, "shortfall") < 0.01);
  CHECK(with.low == 10);
  question.tokens_per_second = 1e12;
  CHECK_THROWS_AS(predict_fleet(question), Error);
}

}  // namespace bench
