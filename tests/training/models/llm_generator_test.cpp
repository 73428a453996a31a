// Generation with cached keys and values against whole forward passes, and sampling against
// probabilities.
#include "training/models/llm_generator.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/host/host_kernels.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;
using TokenString = std::vector<std::int32_t>;

/// Two layers, grouped heads of which one is shifted, sequences of 11.
LlmShape little_llm() { return {2, 32, 40, 4, 2, 11, 13, false, false, 1, 20.0}; }
constexpr GenerationSizes kLittle = {3, 2, 5, 7};

/// A model whose head is not zero, for so many sequences.
struct GeneratingModel {
  explicit GeneratingModel(const LlmShape& of, std::int64_t sequences, Dtype dtype = Dtype::f32)
      : shape(of), model(make_llm(of, sequences, dtype)) {
    for (const int id : model.graph->parameters()) {
      if (model.graph->tensor(id).name != "head") continue;
      const View head = weights.view(plan, id);
      fill_initial(Initial::normal(0.3), 9, "head", 0, head);
    }
  }

  /// log p of each token of a sequence but the first, by a forward pass over all of it.
  std::vector<double> judged(const TokenString& tokens) {
    auto* inputs = lane.view(model.tokens).as<std::int32_t>();
    auto* targets = lane.view(model.targets).as<std::int32_t>();
    std::fill_n(inputs, model.tokens.shape().rows(), 0);
    std::fill_n(targets, model.tokens.shape().rows(), 0);
    std::copy(tokens.begin(), tokens.end() - 1, inputs);
    std::copy(tokens.begin() + 1, tokens.end(), targets);
    lane.forward({});
    const double* losses = lane.view(model.losses).as<double>();
    std::vector<double> known;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) known.push_back(-losses[i]);
    return known;
  }

  LlmShape shape;
  Llm model;
  Plan plan = make_plan(*model.graph, false);
  Weights weights{plan, 5};
  Lane lane{plan, weights, [](Dtype dtype) { return host_kernels(dtype); }};
};

TokenString some_prompts(std::int64_t count, int vocabulary) {
  TokenString prompts;
  for (std::int64_t i = 0; i < count; ++i)
    prompts.push_back(static_cast<std::int32_t>(random_bits(3, static_cast<std::uint64_t>(i)) %
                                                static_cast<std::uint64_t>(vocabulary)));
  return prompts;
}

std::vector<float> some_chances(std::int64_t count) {
  std::vector<float> chances;
  for (std::int64_t i = 0; i < count; ++i)
    chances.push_back(static_cast<float>(random_bits(4, static_cast<std::uint64_t>(i)) >> 40) *
                      0x1p-24F);
  return chances;
}

/// The largest difference of a generated token's log-probability from the forward pass's.
double worst_of_generation(GeneratingModel& made, const GenerationSizes& sizes,
                           const KernelFactory& kernels) {
  LlmGenerator generator(made.shape, made.plan, made.weights, kernels, sizes);
  const TokenString prompts = some_prompts(sizes.prompts * sizes.prompt_tokens, 13);
  const auto answers =
      generator.run(prompts, some_chances(sizes.sequences() * sizes.answer_tokens), 1.0);
  double worst = 0.0;
  for (std::int64_t s = 0; s < sizes.sequences(); ++s) {
    const auto prompt = prompts.begin() + s / sizes.answers * sizes.prompt_tokens;
    TokenString tokens(prompt, prompt + sizes.prompt_tokens);
    for (std::int64_t i = 0; i < sizes.answer_tokens; ++i)
      tokens.push_back(answers.tokens[static_cast<std::size_t>(s * sizes.answer_tokens + i)]);
    const std::vector<double> judged = made.judged(tokens);
    for (std::int64_t i = 0; i < sizes.answer_tokens; ++i) {
      const auto at = static_cast<std::size_t>(s * sizes.answer_tokens + i);
      const double known = judged[static_cast<std::size_t>(sizes.prompt_tokens - 1 + i)];
      worst = std::max(worst, std::abs(static_cast<double>(answers.log_probabilities[at]) - known));
    }
  }
  return worst;
}

/// Attends to one position too few.
class ForgettingPolicy final : public PolicyKernels {
 public:
  explicit ForgettingPolicy(std::unique_ptr<PolicyKernels> real) : real_(std::move(real)) {}
  void loss(const PolicyLoss& what) override { real_->loss(what); }
  void store(const AttentionShape& shape, View packed, std::int64_t sequences, std::int64_t first,
             View cache) override {
    real_->store(shape, packed, sequences, first, cache);
  }
  void attend(const AttentionShape& shape, View packed, std::int64_t position, View cache,
              View output) override {
    real_->attend(shape, packed, position - 1, cache, output);
  }
  void choose(View logits, View chances, double temperature, View tokens,
              View log_probabilities) override {
    real_->choose(logits, chances, temperature, tokens, log_probabilities);
  }

 private:
  std::unique_ptr<PolicyKernels> real_;
};

}  // namespace

TEST_CASE("generated tokens have the probabilities of a forward pass over all of them") {
  LlmShape tied = little_llm();
  tied.tied_head = true;
  for (const LlmShape& shape : {little_llm(), tied})
    for (const std::string_view isa : host_kernel_isas()) {
      GeneratingModel made(shape, 1);
      CHECK(worst_of_generation(made, kLittle,
                                [isa](Dtype dtype) { return host_kernels(dtype, isa); }) < 2e-5);
    }
  GeneratingModel narrow(little_llm(), 1, Dtype::bf16);
  const double worst =
      worst_of_generation(narrow, kLittle, [](Dtype dtype) { return host_kernels(dtype); });
  CHECK(worst < 0.1);
}

TEST_CASE("a decoder that forgets the last position is found") {
  GeneratingModel made(little_llm(), 1);
  const auto forgetting = [](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    set.policy = std::make_unique<ForgettingPolicy>(std::move(set.policy));
    return set;
  };
  CHECK(worst_of_generation(made, kLittle, forgetting) > 0.01);
}

TEST_CASE("an answer does not depend on the other prompts, nor on how many answers there are") {
  GeneratingModel made(little_llm(), 1);
  const auto kernels = [](Dtype dtype) { return host_kernels(dtype); };
  const TokenString prompts = some_prompts(3 * 5, 13);
  const std::vector<float> chances = some_chances(6 * 7);
  LlmGenerator together(made.shape, made.plan, made.weights, kernels, kLittle);
  const auto all = together.run(prompts, chances, 1.0);
  const TokenString tokens(all.tokens.begin(), all.tokens.end());
  LlmGenerator alone(made.shape, made.plan, made.weights, kernels, {1, 1, 5, 7});
  for (std::size_t s = 0; s < 6; ++s) {
    const auto one = alone.run(std::span(prompts).subspan(s / 2 * 5, 5),
                               std::span(chances).subspan(s * 7, 7), 1.0);
    CHECK(std::ranges::equal(one.tokens, std::span(tokens).subspan(s * 7, 7)));
  }
}

TEST_CASE("at temperature 0 the likeliest token follows, as the forward pass finds it") {
  GeneratingModel made(little_llm(), 1);
  LlmGenerator generator(made.shape, made.plan, made.weights,
                         [](Dtype dtype) { return host_kernels(dtype); }, {1, 1, 5, 7});
  TokenString tokens = some_prompts(5, 13);
  const auto answer = generator.run(tokens, std::vector<float>(7), 0.0);
  for (const std::int32_t chosen : answer.tokens) {
    double best = -1e30;
    std::int32_t likeliest = -1;
    for (std::int32_t token = 0; token < 13; ++token) {
      TokenString longer = tokens;
      longer.push_back(token);
      if (const double known = made.judged(longer).back(); known > best) {
        best = known;
        likeliest = token;
      }
    }
    CHECK(chosen == likeliest);
    tokens.push_back(chosen);
  }
}

TEST_CASE("tokens are drawn as often as their probabilities say, at every temperature") {
  for (const std::string_view isa : host_kernel_isas())
    for (const double temperature : {1.0, 0.5}) {
      const KernelSet set = host_kernels(Dtype::f32, isa);
      constexpr std::int64_t kRows = 4096, kTokens = 5;
      std::vector<float> logits, chances, log_probabilities(kRows);
      const std::vector<float> one = {0.0F, 1.0F, -2.0F, 0.5F, -100.0F};
      for (std::int64_t i = 0; i < kRows; ++i) {
        logits.insert(logits.end(), one.begin(), one.end());
        chances.push_back(static_cast<float>(i) / kRows);  // evenly: counts are exact but for one
      }
      TokenString tokens(kRows);
      set.policy->choose({logits.data(), kRows, kTokens, Dtype::f32},
                         {chances.data(), kRows, 1, Dtype::f32}, temperature,
                         {tokens.data(), kRows, 1, Dtype::int32},
                         {log_probabilities.data(), kRows, 1, Dtype::f32});
      double sum = 0.0, plain = 0.0;
      for (const float z : one) {
        sum += std::exp(static_cast<double>(z) / temperature);
        plain += std::exp(static_cast<double>(z));
      }
      for (std::int32_t token = 0; token < kTokens; ++token) {
        const double p =
            std::exp(static_cast<double>(one[static_cast<std::size_t>(token)]) / temperature) / sum;
        const auto count = static_cast<double>(std::ranges::count(tokens, token));
        INFO(isa << ", temperature " << temperature << ", token " << token);
        CHECK(std::abs(count - p * kRows) < 2.0);
      }
      for (std::size_t i = 0; i < kRows; ++i)
        CHECK(
            static_cast<double>(log_probabilities[i]) ==
            Approx(static_cast<double>(one[static_cast<std::size_t>(tokens[i])]) - std::log(plain))
                .epsilon(1e-5));
    }
}

TEST_CASE("the generator refuses models and sizes that do not fit") {
  const auto kernels = [](Dtype dtype) { return host_kernels(dtype); };
  GeneratingModel made(little_llm(), 1);
  CHECK_THROWS_WITH(LlmGenerator(made.shape, made.plan, made.weights, kernels, {1, 1, 5, 8}),
                    Contains("5 + 8 tokens for sequences of 11"));
  LlmShape gpt2 = little_llm();
  gpt2.gpt2 = true;
  CHECK_THROWS_WITH(LlmGenerator(gpt2, made.plan, made.weights, kernels, {1, 1, 5, 7}),
                    Contains("GPT-2"));
}

}  // namespace bench::training
