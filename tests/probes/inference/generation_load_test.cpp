// Loads on a batcher by a clock that the test advances: a millisecond for each look at it.
#include "probes/inference/generation_load.h"

#include <cmath>
#include <numeric>

#include "tests/inference/decoding_model.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using inference::Batcher;
using inference::Batching;

struct TestedLoad {
  inference::DecoderModel model =
      inference::little_model(inference::little_llama(), inference::WeightType::int8);
  inference::TestDecoder test{model, 8};
  GenerationLoad load = {.rate = 50.0,
                         .ramp = {0.2},
                         .duration = {2.0},
                         .drain = {5.0},
                         .prompt = {3, 20},
                         .output = {2, 9},
                         .vocabulary = 70,
                         .waiting = 8,
                         .seed = 5,
                         .slice = {0.1}};

  double tick = 0.001;

  GenerationResult run(Batching batching = Batching::continuous) {
    Batcher batcher(test.decoder, test.cache, {.batching = batching, .most_sequences = 4});
    double time = 0.0;
    const LoadClock clock{[&] { return Seconds{time += tick}; },
                          [&](Seconds until) { time = std::max(time, until.value); }};
    return run_load(batcher, load, clock);
  }
};

double all_of_slices(const std::vector<double>& slices) {
  return std::accumulate(slices.begin(), slices.end(), 0.0);
}

TEST_CASE("a load on a batcher has the rate, the lengths and the answers that were asked for") {
  TestedLoad tested;
  const GenerationResult result = tested.run();
  CHECK(result.served.due == Approx(100.0).margin(40.0));
  CHECK(result.served.answered == result.served.due);
  CHECK(result.served.unfinished == 0.0);
  CHECK(result.served.in_bounds == result.served.due);
  CHECK(all_of_slices(result.served.slice_answers) == Approx(result.served.due).margin(5.0));
  CHECK(all_of_slices(result.served.slice_tokens) / result.served.due == Approx(5.5).margin(0.8));
  for (std::uint64_t i = 0; i < 50; ++i) {
    const inference::TextRequest request = generated_request(tested.load, i);
    CHECK((request.prompt.size() >= 3 && request.prompt.size() <= 20));
    CHECK((request.answer_tokens >= 2 && request.answer_tokens <= 9));
    CHECK(request.prompt == generated_request(tested.load, i).prompt);
    CHECK(request.prompt != generated_request(tested.load, i + 1).prompt);
  }
}

TEST_CASE("latencies of a load begin when a request was due, however late it was seen") {
  TestedLoad tested;
  tested.load.rate = 2000.0;  // far more than four sequences of two milliseconds a pass
  tested.load.ramp = {0.0};
  tested.load.duration = {0.2};
  tested.load.drain = {0.1};
  const GenerationResult result = tested.run();
  CHECK(result.served.due == Approx(400.0).margin(80.0));
  CHECK(result.served.unfinished > 0.5 * result.served.due);
  CHECK_FALSE(result.served.holds());
  REQUIRE(result.served.answered > 10.0);
  // Those that were answered waited in the queue, most of them for longer than the load lasted.
  CHECK(result.served.first_token.quantile(0.9).value > 0.1);
  CHECK(std::isnan(result.served.quantile(result.served.first_token, 0.9).value));
}

TEST_CASE("requests that come due during the last pass of a load count as unfinished") {
  TestedLoad tested;
  tested.load.rate = 500.0;
  tested.load.ramp = {0.0};
  tested.load.duration = {0.2};
  tested.load.drain = {0.0};
  tested.load.slice = {0.1};
  tested.tick = 0.05;  // 25 requests come while nobody sees them
  const GenerationResult result = tested.run();
  CHECK(result.served.due == Approx(100.0).margin(35.0));
  CHECK(result.served.unfinished > 0.0);
}

TEST_CASE("an offline load always has requests that wait, and knows only rates") {
  TestedLoad tested;
  tested.load.rate = 0.0;
  const GenerationResult result = tested.run();
  CHECK(result.served.due == 0.0);
  CHECK(static_cast<double>(result.counts.sequences) / static_cast<double>(result.counts.passes) >
        3.9);
  CHECK(all_of_slices(result.served.slice_tokens) > 1000.0);
  CHECK(result.served.open_s / 2.0 == Approx(8.0).margin(0.6));
  const GenerationResult fixed = tested.run(Batching::fixed);
  CHECK(all_of_slices(fixed.served.slice_tokens) < all_of_slices(result.served.slice_tokens));
}

TEST_CASE("prompts that begin alike are taken from the cache under load") {
  TestedLoad tested;
  tested.load.prompt = {40, 44};
  tested.load.shared_prefix = 32;
  const GenerationResult result = tested.run();
  CHECK(static_cast<double>(result.counts.reused_tokens) >
        0.7 * static_cast<double>(result.counts.prompt_tokens));
}

TEST_CASE("an answer that differs from the known one under load is counted") {
  TestedLoad tested;
  GenerationLoad& load = tested.load;
  load.known = {generated_request(load, 1000), generated_request(load, 1001)};
  for (inference::TextRequest& request : load.known) {
    Batcher alone(tested.test.decoder, tested.test.cache, {.most_sequences = 1});
    alone.submit(request);
    load.known_answers.emplace_back();
    while (!alone.idle())
      for (const auto& progress : alone.step())
        load.known_answers.back().insert(load.known_answers.back().end(), progress.tokens.begin(),
                                         progress.tokens.end());
  }
  const GenerationResult right = tested.run();
  CHECK(right.served.checks > 2.0);
  CHECK(right.served.changed == 0.0);
  load.known_answers[1].back() += 1;
  const GenerationResult wrong = tested.run();
  CHECK(wrong.served.changed == Approx(wrong.served.checks / 2.0).margin(0.6));
}

}  // namespace
}  // namespace bench
