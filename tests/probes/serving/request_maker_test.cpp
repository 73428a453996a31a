// The requests of a load: the same seed gives the same, lengths lie in their ranges, known answers
// come back, and arrivals are a Poisson process.
#include "probes/serving/request_maker.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/elements.h"
#include "probes/serving/serving_client.h"
#include "tests/support/catch.h"

namespace bench::serving {
namespace {

Json body_of(const PlannedRequest& request) { return parse_json(request.body, "request"); }
std::string prompt_of(const PlannedRequest& request) { return body_of(request).at("prompt"); }
std::int64_t words_in(const std::string& text) { return 1 + std::ranges::count(text, ' '); }

}  // namespace

TEST_CASE("requests follow from seed, salt and number") {
  const RequestSetting setting{.model = "m", .prompt = {10, 30}, .output = {2, 9}};
  std::set<std::string> prompts;
  std::set<int> outputs;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const PlannedRequest request = request_number(setting, number);
    CHECK(request.body == request_number(setting, number).body);
    const std::string prompt = prompt_of(request);
    CHECK(words_in(prompt) >= 10);
    CHECK(words_in(prompt) <= 30);
    CHECK(body_of(request).at("max_tokens") == request.output_tokens);
    prompts.insert(prompt);
    outputs.insert(request.output_tokens);
  }
  CHECK(prompts.size() == 200);
  CHECK(outputs == std::set<int>{2, 3, 4, 5, 6, 7, 8, 9});
  RequestSetting other = setting;
  other.salt = 2;
  CHECK(prompt_of(request_number(other, 5)) != prompt_of(request_number(setting, 5)));
  CHECK(request_number(other, 5).output_tokens == request_number(setting, 5).output_tokens);
}

TEST_CASE("prompts have as many words as make the tokens that are wanted") {
  RequestSetting setting{.prompt = {307, 307}, .word_tokens = {3.0, 7.0}};
  CHECK(words_in(prompt_of(request_number(setting, 0))) == 100);
  setting.prompt = {1, 1};
  CHECK(words_in(prompt_of(request_number(setting, 0))) == 1);
}

TEST_CASE("a shared prefix is the same in all prompts, what follows is not") {
  const RequestSetting setting{.prompt = {100, 100}, .shared_prefix_tokens = 60};
  const std::string one = prompt_of(request_number(setting, 1));
  const std::string two = prompt_of(request_number(setting, 2));
  const auto differ = std::ranges::mismatch(one, two).in1 - one.begin();
  CHECK(words_in(one.substr(0, static_cast<std::size_t>(differ))) >= 60);
  CHECK(words_in(one.substr(0, static_cast<std::size_t>(differ))) < 70);
  CHECK(words_in(one) == 100);
}

TEST_CASE("one request in twenty is one with a known answer, in turn") {
  const RequestSetting setting{.checks = 2};
  CHECK(request_number(setting, 18).check == -1);
  CHECK(request_number(setting, 19).check == 0);
  CHECK(request_number(setting, 39).check == 1);
  CHECK(request_number(setting, 59).check == 0);
  CHECK(request_number(setting, 59).body == check_request(setting, 0).body);
  RequestSetting later = setting;
  later.salt = 77;
  CHECK(check_request(later, 1).body == check_request(setting, 1).body);
}

TEST_CASE("a chat has messages, and ignore_eos is left out where it is not known") {
  const RequestSetting setting{.chat = true, .ignore_eos = false};
  const Json body = body_of(request_number(setting, 0));
  CHECK(body.at("messages").at(0).at("role") == "user");
  CHECK_FALSE(body.contains("prompt"));
  CHECK_FALSE(body.contains("ignore_eos"));
  CHECK(body.at("stream_options").at("include_usage") == true);
}

TEST_CASE("times between arrivals are exponential") {
  constexpr int kCount = 20'000;
  constexpr double kRate = 50.0;
  double sum = 0.0, squares = 0.0;
  int beyond = 0;  // the mean: 1/e of an exponential distribution
  for (int i = 0; i < kCount; ++i) {
    const double gap = exponential_gap(kRate, random_bits(3, static_cast<std::uint64_t>(i)));
    sum += gap * kRate;
    squares += gap * kRate * gap * kRate;
    beyond += gap * kRate > 1.0 ? 1 : 0;
  }
  CHECK(sum / kCount == Approx(1.0).epsilon(0.03));
  CHECK(squares / kCount == Approx(2.0).epsilon(0.08));
  CHECK(static_cast<double>(beyond) / kCount == Approx(std::exp(-1.0)).epsilon(0.04));
  CHECK(std::isfinite(exponential_gap(kRate, 0)));
}

}  // namespace bench::serving
