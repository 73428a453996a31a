// Answers of a batcher are those of each request alone, however it batches, reuses and speculates.
#include "inference/batcher.h"

#include <map>

#include "core/error.h"
#include "inference/prompt_lookup.h"
#include "tests/inference/decoding_model.h"
#include "tests/support/catch.h"

namespace bench::inference {
namespace {

using Catch::Matchers::Contains;

using Answers = std::map<std::uint64_t, TokenString>;

struct AnsweredLoad {
  Answers answers;
  Batcher::Counts counts;
  std::size_t passes_with_tokens = 0;
};

AnsweredLoad answer(const DecoderModel& model, const std::vector<TextRequest>& requests,
                    const BatchOptions& options, std::int64_t cache_sequences = 4) {
  TestDecoder test(model, cache_sequences);
  Batcher batcher(test.decoder, test.cache, options);
  for (const TextRequest& request : requests) batcher.submit(request);
  AnsweredLoad load;
  while (!batcher.idle())
    for (const TextProgress& progress : batcher.step()) {
      TokenString& answer = load.answers[progress.id];
      answer.insert(answer.end(), progress.tokens.begin(), progress.tokens.end());
    }
  load.counts = batcher.counts();
  return load;
}

/// Prompts of which each second one begins like the first one, and answers of several lengths.
std::vector<TextRequest> some_requests() {
  const TokenString shared = some_tokens(35, 70, 1);
  std::vector<TextRequest> requests;
  for (std::uint64_t i = 0; i < 9; ++i) {
    TokenString prompt = i % 2 == 0 ? shared : TokenString{};
    const TokenString own = some_tokens(3 + static_cast<std::int64_t>(i), 70, 10 + i);
    prompt.insert(prompt.end(), own.begin(), own.end());
    requests.push_back({i, prompt, 4 + static_cast<std::int64_t>(i * 5 % 13)});
  }
  return requests;
}

}  // namespace

TEST_CASE("batching, reuse of prefixes and speculation change no token of an answer") {
  for (const WeightType type : {WeightType::f32, WeightType::int8}) {
    const DecoderModel model = little_model(little_llama(), type);
    const auto requests = some_requests();
    const Answers alone =
        answer(model, requests, {.most_sequences = 1, .reuse_prefixes = false}).answers;
    REQUIRE(alone.size() == requests.size());
    for (const TextRequest& request : requests)
      CHECK(static_cast<std::int64_t>(alone.at(request.id).size()) == request.answer_tokens);
    for (const Batching batching : {Batching::continuous, Batching::fixed})
      for (const std::int64_t drafted : {0, 4}) {
        const AnsweredLoad load = answer(model, requests,
                                         {.batching = batching,
                                          .most_sequences = 5,
                                          .reuse_prefixes = true,
                                          .drafted = drafted});
        CHECK(load.answers == alone);
        CHECK((load.counts.drafted > 0) == (drafted > 0));
      }
  }
}

TEST_CASE("a request that begins like an earlier one takes its blocks of the cache") {
  const DecoderModel model = little_model(little_llama(), WeightType::f32);
  const TokenString prompt = some_tokens(40, 70);
  const std::vector<TextRequest> twice = {{0, prompt, 3}, {1, prompt, 3}};
  const AnsweredLoad kept = answer(model, twice, {.most_sequences = 1});
  CHECK(kept.counts.reused_tokens == 32);
  CHECK(kept.counts.rows == 40 + 2 + 8 + 2);
  CHECK(kept.answers.at(0) == kept.answers.at(1));
  const AnsweredLoad forgotten =
      answer(model, twice, {.most_sequences = 1, .reuse_prefixes = false});
  CHECK(forgotten.counts.reused_tokens == 0);
  CHECK(forgotten.answers == kept.answers);
}

TEST_CASE("a prefix loses its last block first when a small cache needs one") {
  const DecoderModel model = little_model(little_llama(), WeightType::f32);
  const TokenString prompt = some_tokens(50, 70);
  TestDecoder test(model, 1);  // four blocks
  Batcher batcher(test.decoder, test.cache, {.most_sequences = 1});
  const auto run = [&](const TextRequest& request) {
    const std::int64_t before = batcher.counts().reused_tokens;
    batcher.submit(request);
    while (!batcher.idle()) batcher.step();
    return batcher.counts().reused_tokens - before;
  };
  CHECK(run({0, prompt, 2}) == 0);
  CHECK(run({1, some_tokens(20, 70, 9), 2}) == 0);  // two blocks: an unused one, and one of three
  CHECK(run({2, prompt, 2}) == 32);
}

TEST_CASE("what a request leaves is not kept if it says so") {
  const DecoderModel model = little_model(little_llama(), WeightType::f32);
  const TokenString prompt = some_tokens(40, 70);
  std::vector<TextRequest> requests = {{0, prompt, 3, false}, {1, prompt, 3}, {2, prompt, 3}};
  CHECK(answer(model, requests, {.most_sequences = 1}).counts.reused_tokens == 32);
}

TEST_CASE("continuous batching admits a request when another ends, static when all have ended") {
  const DecoderModel model = little_model(little_llama(), WeightType::f32);
  std::vector<TextRequest> requests;
  for (std::uint64_t i = 0; i < 4; ++i)
    requests.push_back({i, some_tokens(4, 70, i), i % 2 == 0 ? 2 : 12});
  // Two at once: 12 passes for the first long answer; the short ones and the second long answer run
  // next to it, or after it.
  BatchOptions two{.most_sequences = 2};
  const Batcher::Counts continuous = answer(model, requests, two).counts;
  two.batching = Batching::fixed;
  const Batcher::Counts fixed = answer(model, requests, two).counts;
  CHECK(continuous.passes == 16);
  CHECK(fixed.passes == 24);
  CHECK(continuous.rows == fixed.rows);
}

TEST_CASE("requests wait for blocks of a small cache, and all are answered") {
  const DecoderModel model = little_model(little_llama(), WeightType::f32);
  const auto requests = some_requests();
  const Answers known = answer(model, requests, {.most_sequences = 1}).answers;
  // One sequence of full length, or two or three short ones.
  CHECK(answer(model, requests, {.most_sequences = 8}, 1).answers == known);
}

TEST_CASE("a request that never fits is refused, saying what would") {
  const DecoderModel model = little_model(little_llama(), WeightType::f32);
  const auto refused = [&](std::int64_t prompt, std::int64_t tokens) {
    answer(model, {{0, some_tokens(prompt, 70), tokens}}, {});
  };
  CHECK_THROWS_WITH(refused(60, 5), Contains("a prompt of 60 tokens and an answer of 5 do not fit "
                                             "into 64 positions"));
  CHECK_THROWS_WITH(refused(0, 5), Contains("a prompt of 0 tokens"));
  CHECK_THROWS_WITH(refused(5, 0), Contains("an answer of 0"));
  CHECK_THROWS_WITH(answer(model, {}, {.most_sequences = 100, .drafted = 4}),
                    Contains("100 sequences with drafts of 4 tokens need 500 rows"));
}

TEST_CASE("a draft is what followed the last tokens before") {
  const auto draft = [](const TokenString& tokens, std::int64_t most) {
    const auto found = looked_up(tokens, most);
    return TokenString(found.begin(), found.end());
  };
  CHECK(draft({1, 2, 3, 4, 5, 1, 2, 3}, 2) == TokenString{4, 5});
  CHECK(draft({1, 2, 3, 4, 9, 2, 3, 5, 6, 2, 3}, 2) == TokenString{5, 6});  // the latest
  CHECK(draft({1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3}, 1) == TokenString{4});     // three before two
  CHECK(draft({7, 7, 7, 7}, 4) == TokenString{7});
  CHECK(draft({1, 2, 3}, 4).empty());
  CHECK(draft({1, 2, 1, 2}, 0).empty());
  CHECK(draft({5, 5}, 4).empty());
}

}  // namespace bench::inference
